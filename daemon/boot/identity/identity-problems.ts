// Faults of the identity settings that forbid a start: a provider that cannot be trusted, undefined roles.

import { siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { isAllowedProviderUrl, isLoopbackUrl } from '../../../adapters/identity/oidc/url-rules.ts'
import { builtInRoles } from '../../kernel/identity/identity.ts'
import type { Role } from '../../kernel/role/role.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings, platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings, x509Settings } from '../../kernel/settings/sso-settings.ts'

export function findIdentityProblems(resolved: ResolvedSettings, starting: readonly Role[]): ProfileProblem[] {
  return [
    ...findProviderProblems(resolved),
    ...findRoleProblems(resolved),
    ...findCertificateProblems(resolved, starting),
  ]
}

function findProviderProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const sso = getSettings(resolved, ssoSettings)
  if (getSettings(resolved, identitySettings).provider !== 'oidc') return []
  const { issuer, wellknown, token_url, tls_verify } = sso
  if (issuer === undefined) return [{ path: 'sso.issuer', message: 'identity.provider oidc needs the provider’s name' }]
  const urls = { issuer, wellknown, token_url }
  const named = Object.entries(urls).filter((each): each is [string, string] => each[1] !== undefined)
  return [
    ...named
      .filter(([, url]) => !isAllowedProviderUrl(url))
      .map(([field]) => ({ path: `sso.${field}`, message: 'must be https, or http on this machine' })),
    ...(issuer === siteIssuerUrn(getSettings(resolved, platformSettings).name)
      ? [{ path: 'sso.issuer', message: 'is the name of the site’s own issuer' }]
      : []),
    ...(tls_verify || named.every(([, url]) => isLoopbackUrl(url))
      ? []
      : [{ path: 'sso.tls_verify', message: 'may be false for an identity provider on this machine alone' }]),
  ]
}

/** An undefined role grants nothing: probably its name is misspelt. */
function findRoleProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const known = { ...builtInRoles, ...getSettings(resolved, identitySettings).roles }
  const mapped = Object.entries(getSettings(resolved, ssoSettings).role_map).map(
    ([name, roles]) => [`sso.role_map.${name}`, roles] as const,
  )
  const held = getSettings(resolved, x509Settings).subjects.map(
    ({ roles }, index) => [`x509.subjects.${index}.roles`, roles] as const,
  )
  return [...mapped, ...held].flatMap(([path, roles]) =>
    roles
      .filter((role) => !Object.hasOwn(known, role))
      .map((role) => ({ path, message: `there is no role "${role}"` })),
  )
}

function findCertificateProblems(resolved: ResolvedSettings, starting: readonly Role[]): ProfileProblem[] {
  const { ca_file } = getSettings(resolved, x509Settings)
  return starting.flatMap(({ name }) => {
    const { tls_client_auth, tls_cert_file } = resolved.values.get(name) ?? {}
    if (tls_client_auth === undefined || tls_client_auth === 'none') return []
    const path = `${name}.tls_client_auth`
    return [
      ...(tls_cert_file ? [] : [{ path, message: `certificates are shown over TLS alone: set ${name}.tls_cert_file` }]),
      ...(ca_file ? [] : [{ path, message: 'needs x509.ca_file: the authorities that issue them' }]),
    ]
  })
}

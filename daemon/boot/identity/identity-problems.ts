// Identity settings that forbid a start: a provider that cannot be trusted, undefined roles, incomplete certificates.

import { siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { isAllowedProviderUrl, isLoopbackUrl } from '../../../adapters/identity/oidc/url-rules.ts'
import { builtInRoles } from '../../kernel/identity/identity.ts'
import { listListeners } from '../../kernel/role/configured-listener.ts'
import type { Role } from '../../kernel/role/role.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings, platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings, x509Settings } from '../../kernel/settings/sso-settings.ts'
import { roles } from '../../roles.ts'

export function findIdentityProblems(resolved: ResolvedSettings, starting: readonly Role[]): ProfileProblem[] {
  return [
    ...findProviderProblems(resolved),
    ...findRoleProblems(resolved),
    ...findCertificateProblems(resolved, starting),
    ...findAudienceProblems(resolved),
  ]
}

function findProviderProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const sso = getSettings(resolved, ssoSettings)
  if (getSettings(resolved, identitySettings).provider !== 'oidc') return []
  const { issuer, wellknown, token_url, tls_verify } = sso
  if (issuer === undefined)
    return [{ path: 'sso.issuer', message: 'identity.provider is oidc, so the issuer of the provider is required' }]
  // With a discovery document elsewhere the issuer is a name, such as that of another site, and is never dialled.
  const urls = { ...(wellknown === undefined ? { issuer } : { wellknown }), token_url }
  const configuredUrls = Object.entries(urls).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return [
    ...configuredUrls
      .filter(([, url]) => !isAllowedProviderUrl(url))
      .map(([field]) => ({ path: `sso.${field}`, message: 'must be an https URL, or http on this machine' })),
    ...(issuer === siteIssuerUrn(getSettings(resolved, platformSettings).name)
      ? [{ path: 'sso.issuer', message: 'must differ from the site’s own issuer' }]
      : []),
    ...(tls_verify || configuredUrls.every(([, url]) => isLoopbackUrl(url))
      ? []
      : [{ path: 'sso.tls_verify', message: 'may be false only for an identity provider on this machine' }]),
  ]
}

/** Undefined roles grant nothing, so they are probably misspelt. */
function findRoleProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const knownRoles = { ...builtInRoles, ...getSettings(resolved, identitySettings).roles }
  const mapped = Object.entries(getSettings(resolved, ssoSettings).role_map).map(
    ([name, roles]) => [`sso.role_map.${name}`, roles] as const,
  )
  const certificateRoles = getSettings(resolved, x509Settings).subjects.map(
    ({ roles }, index) => [`x509.subjects.${index}.roles`, roles] as const,
  )
  return [...mapped, ...certificateRoles].flatMap(([path, roles]) =>
    roles
      .filter((role) => !Object.hasOwn(knownRoles, role))
      .map((role) => ({ path, message: `the role "${role}" is not defined` })),
  )
}

function findAudienceProblems(resolved: ResolvedSettings): ProfileProblem[] {
  return Object.entries(getSettings(resolved, identitySettings).audiences).flatMap(([audience, names]) =>
    names
      .filter((name) => !roles.some((role) => role.name === name))
      .map((name) => ({ path: `identity.audiences.${audience}`, message: `no role of the site is called "${name}"` })),
  )
}

function findCertificateProblems(resolved: ResolvedSettings, starting: readonly Role[]): ProfileProblem[] {
  const { ca_file } = getSettings(resolved, x509Settings)
  return starting
    .flatMap((role) => listListeners(role, resolved))
    .flatMap(({ tls }) => {
      if (!tls || tls.client_auth === 'none') return []
      const { client_auth: path, cert_file } = tls.settings
      const no_authorities = 'client certificates need x509.ca_file, the authorities that issue them'
      return [
        ...(tls.cert_file ? [] : [{ path, message: `client certificates need TLS: set ${cert_file}` }]),
        ...(ca_file ? [] : [{ path, message: no_authorities }]),
      ]
    })
}

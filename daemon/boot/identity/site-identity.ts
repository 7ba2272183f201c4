// Identity providers of the site: its own issuer, and those of the profile, which are loaded only where it names them.

import { hasToolFields, offersTools } from '../../kernel/api/mcp-tools.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import { roleCallSettings } from '../../kernel/settings/role-call-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings, x509Settings } from '../../kernel/settings/sso-settings.ts'
import { toolAggregator } from '../../role-calls.ts'
import { roles } from '../../roles.ts'
import { type OfflineIdentityOptions, offlineIdentity, type SiteIdentity } from './offline-identity.ts'
import { roleCertificates } from './role-certificates.ts'

type SiteIdentityOptions = Omit<
  OfflineIdentityOptions,
  'settings' | 'foreignVerifier' | 'extendProvider' | 'certificate_holders' | 'tool_roles' | 'findRole'
> & {
  readonly resolved: ResolvedSettings
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

export async function openSiteIdentity(options: SiteIdentityOptions): Promise<SiteIdentity> {
  const settings = getSettings(options.resolved, identitySettings)
  return offlineIdentity({
    ...options,
    settings,
    tool_roles: listToolRoles(options),
    foreignVerifier: await openForeignTokens(options),
    certificate_holders: getSettings(options.resolved, x509Settings).subjects,
    extendProvider: await openClientCertificates(options),
    findRole: openRoleCertificates(options),
  })
}

/** The aggregator is none of them: it performs its own operations itself. */
function listToolRoles({ resolved, site }: SiteIdentityOptions): string[] {
  const deployment = { deployment_profile: site.deployment_profile, settings: resolved }
  const offering = roles.filter((role) => hasToolFields(role) && offersTools({ role, deployment }))
  return offering.map(({ name }) => name).filter((name) => name !== toolAggregator)
}

async function openForeignTokens({
  resolved,
  log,
  now,
  monotonic,
}: SiteIdentityOptions): Promise<OfflineIdentityOptions['foreignVerifier']> {
  const { provider, clock_skew_s: skew_s } = getSettings(resolved, identitySettings)
  if (provider === 'offline') return undefined
  const { ssoTokenVerifier } = await import('./sso-provider.ts')
  return ssoTokenVerifier({ sso: getSettings(resolved, ssoSettings), skew_s, log, now, monotonic })
}

/** Interval between checks of revocation lists, which authorities publish hourly at most, and of authorities of roles. */
const revocation_check_interval_ms = 1_000

/** Undefined where roles are admitted on local sockets alone. */
function openRoleCertificates({ resolved, folder, site, log, now, monotonic }: SiteIdentityOptions) {
  if (!getSettings(resolved, roleCallSettings).accept_certificates) return undefined
  const recheck = { every_ms: revocation_check_interval_ms, monotonic }
  return roleCertificates({ folder, site: site.name, log, now, recheck })
}

async function openClientCertificates({
  resolved,
  log,
  now,
  monotonic,
}: SiteIdentityOptions): Promise<OfflineIdentityOptions['extendProvider']> {
  const x509 = getSettings(resolved, x509Settings)
  if (x509.ca_file === undefined) return undefined
  const { clientCertificateProvider } = await import('./client-certificates.ts')
  const recheck = { every_ms: revocation_check_interval_ms, monotonic }
  return clientCertificateProvider({ ca_file: x509.ca_file, x509, log, now, recheck })
}

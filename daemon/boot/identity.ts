// Who is known at this site: its own issuer always; what the profile adds to it is loaded only then.
import { identitySettings } from '../kernel/platform-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import { ssoSettings, x509Settings } from '../kernel/sso-settings.ts'
import { type Identity, type IdentityMaterials, offlineIdentity } from './issuer.ts'
import { valuesOf } from './profile.ts'

type Materials = Omit<IdentityMaterials, 'settings' | 'foreign' | 'beside'> & {
  readonly resolved: Resolved
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

export async function siteIdentity(given: Materials): Promise<Identity> {
  const settings = valuesOf(given.resolved, identitySettings)
  return offlineIdentity({ ...given, settings, foreign: await foreignOf(given), beside: await besideOf(given) })
}

async function foreignOf({ resolved, log, now, monotonic }: Materials): Promise<IdentityMaterials['foreign']> {
  const { provider, clock_skew_s: skew_s } = valuesOf(resolved, identitySettings)
  if (provider === 'offline') return undefined
  const { foreignTokens } = await import('./sso.ts')
  return foreignTokens({ sso: valuesOf(resolved, ssoSettings), skew_s, log, now, monotonic })
}

/** How often the revocation lists are looked at, in milliseconds: an authority publishes them by the hour at best. */
const lists_every_ms = 1_000

async function besideOf({ resolved, log, now, monotonic }: Materials): Promise<IdentityMaterials['beside']> {
  const x509 = valuesOf(resolved, x509Settings)
  if (x509.ca_file === undefined) return undefined
  const { certificatesBeside } = await import('./certificates.ts')
  const looking = { every_ms: lists_every_ms, monotonic }
  return certificatesBeside({ ca_file: x509.ca_file, x509, log, now, looking })
}

// Who is known at this site: its own issuer always; what the profile adds to it is loaded only then.
import { identitySettings } from '../kernel/platform-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import { ssoSettings } from '../kernel/sso-settings.ts'
import { type Identity, type IdentityMaterials, offlineIdentity } from './issuer.ts'
import { valuesOf } from './profile.ts'

type Materials = Omit<IdentityMaterials, 'settings' | 'foreign'> & {
  readonly resolved: Resolved
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

export async function siteIdentity({ resolved, monotonic, ...given }: Materials): Promise<Identity> {
  const settings = valuesOf(resolved, identitySettings)
  const { provider, clock_skew_s: skew_s } = settings
  if (provider === 'offline') return offlineIdentity({ ...given, settings })
  const { foreignTokens } = await import('./sso.ts')
  const sso = valuesOf(resolved, ssoSettings)
  return offlineIdentity({ ...given, settings, foreign: foreignTokens({ ...given, sso, skew_s, monotonic }) })
}

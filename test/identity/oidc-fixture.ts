// A site's view of a provider, over real HTTP and real keys, in time that the test moves.
import { ssoTokenVerifier } from '../../daemon/boot/identity/sso-provider.ts'
import type { SettingValues } from '../../daemon/kernel/settings/settings.ts'
import { ssoSettings } from '../../daemon/kernel/settings/sso-settings.ts'
import { noon } from './identity-fixture.ts'
import { siteAudience } from './local-issuer.ts'

/** `clock.now` epoch milliseconds, `clock.mono` milliseconds; `logged` holds each line. */
export function createOidcFixture(issuer: string, change: Partial<SettingValues<typeof ssoSettings>> = {}) {
  const clock = { now: noon, mono: 1_000_000 }
  const logged: string[] = []
  const log = (event: string, fields: unknown) => logged.push(`${event} ${JSON.stringify(fields)}`)
  const settings = { issuer, audience: siteAudience, role_map: { examiner: ['analyst'], watcher: ['auditor'] } }
  const tokens = ssoTokenVerifier({
    sso: ssoSettings.schema.parse({ ...settings, ...change }) as SettingValues<typeof ssoSettings>,
    skew_s: 60,
    log: { debug: log, info: log, warn: log, error: log },
    now: () => clock.now,
    monotonic: () => clock.mono,
  })
  /** The site's claims, or the reason against them. */
  const readVerdict = async (token: string) => {
    const verdict = await tokens.verify(token)
    return 'refused' in verdict ? verdict.refused : verdict.payload
  }
  return { ...tokens, readVerdict, clock, logged }
}

// A site's view of a provider, over real HTTP and real keys, in time that the test moves.
import { foreignTokens } from '../../daemon/boot/sso.ts'
import type { Values } from '../../daemon/kernel/settings.ts'
import { ssoSettings } from '../../daemon/kernel/sso-settings.ts'
import { noon } from './identity-world.ts'
import { forSite } from './local-issuer.ts'

/** `clock.now` epoch milliseconds, `clock.mono` milliseconds; `logged` holds each line. */
export function atSite(issuer: string, change: Partial<Values<typeof ssoSettings>> = {}) {
  const clock = { now: noon, mono: 1_000_000 }
  const logged: string[] = []
  const log = (event: string, fields: unknown) => logged.push(`${event} ${JSON.stringify(fields)}`)
  const given = { issuer, audience: forSite, role_map: { examiner: ['analyst'], watcher: ['auditor'] } }
  const tokens = foreignTokens({
    sso: ssoSettings.schema.parse({ ...given, ...change }) as Values<typeof ssoSettings>,
    skew_s: 60,
    log: { debug: log, info: log, warn: log, error: log },
    now: () => clock.now,
    monotonic: () => clock.mono,
  })
  /** The site's claims, or the reason against them. */
  const said = async (token: string) => {
    const verdict = await tokens.verify(token)
    return 'refused' in verdict ? verdict.refused : verdict.payload
  }
  return { ...tokens, said, clock, logged }
}

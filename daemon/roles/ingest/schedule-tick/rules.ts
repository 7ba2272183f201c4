// Until which time a tick permits runs, by the clock of the site.
import type { StoredScheduleTick } from './model.ts'

/** The clock of the site may be behind that of the scheduler by as much, and no time is left to the next tick. */
const clock_slack_ms = 60_000

/**
 * Undefined for the tick that was noticed before. What is due by the clock of the site may be triggered, and what is due until the time
 * of the tick where that is a little ahead: it is triggered once the site's clock is there.
 */
export function noticeTick(
  former: StoredScheduleTick | undefined,
  tenant_id: string,
  at: string,
  now_ms: number,
): StoredScheduleTick | undefined {
  if (former?.at === at) return undefined
  const until_ts = Math.min(Math.max(now_ms, Date.parse(at)), now_ms + clock_slack_ms)
  return { tenant_id, at, noticed_ts: now_ms, until_ts }
}

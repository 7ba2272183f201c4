// Resolves the times of a new signal: UTC, with the configured expiry where the sender gives none.
import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { settings } from '../settings.ts'

const day_ms = 86_400_000

/**
 * Detection and expiry time of a new signal, in UTC so that the texts sort by time. `due_ts`: `expires_at` in epoch
 * milliseconds. Refuses `invalid` for a detection more than a day ahead.
 */
export function resolveTimes(
  call: Call,
  {
    detected_at,
    expires_at,
    signal_type,
  }: { readonly detected_at: string; readonly expires_at?: string | undefined; readonly signal_type: string },
) {
  const now = call.now()
  const detected = Date.parse(detected_at)
  if (!(detected <= now + day_ms))
    return refuse(
      'invalid',
      `detected_at is ${detected_at}, more than a day ahead of this site: correct the clock of the sender`,
      [{ path: 'detected_at', message: 'must not be more than a day ahead' }],
    )
  const { expiry_days, expiry_days_by_type: by_type } = call.settings(settings)
  const days = (Object.hasOwn(by_type, signal_type) ? by_type[signal_type] : undefined) ?? expiry_days
  const due_ts = expires_at === undefined ? now + days * day_ms : Date.parse(expires_at)
  return {
    detected_at: new Date(detected).toISOString(),
    expires_at: new Date(due_ts).toISOString(),
    due_ts,
  }
}

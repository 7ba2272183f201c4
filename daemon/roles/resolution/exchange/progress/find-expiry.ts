// Decides when an exchange expires: a silent peer must not keep the secret and the records of this site in storage.
import type { SettingValues } from '../../../../kernel/settings/settings.ts'
import type { settings } from '../../settings.ts'
import type { StoredExchange } from '../model.ts'
import type { ExchangeFailure } from './end-early.ts'

const hour_ms = 3_600_000
/** A request that has not stored its records after this long was interrupted. */
const max_proposal_request_ms = hour_ms

type ExchangeTimeLimits = Pick<SettingValues<typeof settings>, 'exchange_hours' | 'exchange_idle_hours'>
type ExchangeTimes = Pick<StoredExchange, 'created_at' | 'updated_at' | 'part' | 'own' | 'state'>

/**
 * Returns the reason why an open exchange ends now; undefined while it may continue. Only a completed step, the
 * agreement of a site and a new piece are progress. The limit from the proposal holds regardless of progress.
 */
export function findExpiry(
  { created_at, updated_at, part, own, state }: ExchangeTimes,
  { exchange_hours, exchange_idle_hours }: ExchangeTimeLimits,
  now_ms: number,
): ExchangeFailure | undefined {
  const age_ms = now_ms - Date.parse(created_at)
  if (part === 'proposer' && state === 'proposed' && own === undefined && age_ms >= max_proposal_request_ms)
    return {
      code: 'cut_short',
      reason: 'the request was interrupted while its records were stored: propose the exchange again',
    }
  if (age_ms >= exchange_hours * hour_ms)
    return { code: 'expired', reason: `the exchange did not complete within ${exchange_hours} hours of its proposal` }
  if (now_ms - Date.parse(updated_at) < exchange_idle_hours * hour_ms) return undefined
  return { code: 'expired', reason: `the exchange made no progress for ${exchange_idle_hours} hours` }
}

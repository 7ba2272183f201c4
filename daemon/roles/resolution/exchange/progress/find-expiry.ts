// When an exchange has had its time: a peer that falls silent must not keep open what its secret and records are kept for.
import type { SettingValues } from '../../../../kernel/settings/settings.ts'
import type { settings } from '../../settings.ts'
import type { StoredExchange } from '../model.ts'
import type { ExchangeFailure } from './end-early.ts'

const hour_ms = 3_600_000
/** A request that keeps its records longer than this has ended in the middle of it. */
const max_proposal_request_ms = hour_ms

type ExchangeTimeLimits = Pick<SettingValues<typeof settings>, 'exchange_hours' | 'exchange_idle_hours'>
type ExchangeTimes = Pick<StoredExchange, 'created_at' | 'updated_at' | 'part' | 'own' | 'state'>

/**
 * Why the exchange, which is not over, ends now; undefined while it may go on. A step done, a site that agrees and a new piece
 * are progress, and nothing else a peer says is; the time from the proposal holds however much progress there is.
 */
export function findExpiry(
  { created_at, updated_at, part, own, state }: ExchangeTimes,
  { exchange_hours, exchange_idle_hours }: ExchangeTimeLimits,
  now_ms: number,
): ExchangeFailure | undefined {
  const age_ms = now_ms - Date.parse(created_at)
  if (part === 'proposer' && state === 'proposed' && own === undefined && age_ms >= max_proposal_request_ms)
    return { code: 'cut_short', reason: 'the request ended while its records were kept: propose it again' }
  if (age_ms >= exchange_hours * hour_ms)
    return { code: 'expired', reason: `it was not through ${exchange_hours} hours after it was proposed` }
  if (now_ms - Date.parse(updated_at) < exchange_idle_hours * hour_ms) return undefined
  return { code: 'expired', reason: `there was no progress for ${exchange_idle_hours} hours` }
}

// When an exchange has had its time: a peer that falls silent must not keep open what its secret and records are kept for.
import type { Values } from '../../../kernel/settings.ts'
import type { settings } from '../settings.ts'
import type { Failure } from './ending.ts'
import type { StoredExchange } from './model.ts'

const hour_ms = 3_600_000
/** A request that keeps its records longer than this has ended in the middle of it. */
const most_keeping_ms = hour_ms

type Limits = Pick<Values<typeof settings>, 'exchange_hours' | 'exchange_idle_hours'>
type Known = Pick<StoredExchange, 'created_at' | 'updated_at' | 'part' | 'own' | 'state'>

/**
 * Why the exchange, which is not over, ends now; undefined while it may go on. A step done, a site that agrees and a new piece
 * are progress, and nothing else a peer says is; the time from the proposal holds however much progress there is.
 */
export function expiryOf(
  { created_at, updated_at, part, own, state }: Known,
  { exchange_hours, exchange_idle_hours }: Limits,
  now_ms: number,
): Failure | undefined {
  const age_ms = now_ms - Date.parse(created_at)
  if (part === 'proposer' && state === 'proposed' && own === undefined && age_ms >= most_keeping_ms)
    return { code: 'cut_short', reason: 'the request ended while its records were kept: propose it again' }
  if (age_ms >= exchange_hours * hour_ms)
    return { code: 'expired', reason: `it was not through ${exchange_hours} hours after it was proposed` }
  if (now_ms - Date.parse(updated_at) < exchange_idle_hours * hour_ms) return undefined
  return { code: 'expired', reason: `there was no progress for ${exchange_idle_hours} hours` }
}

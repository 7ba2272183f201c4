// How much a peer may try against the records of this site in a day.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { exchanges, type StoredExchange } from '../model.ts'

const day_ms = 86_400_000

/**
 * Counts what was granted to the peer in the last 24 hours, whoever proposed it and however it ended. Who agrees is told early by
 * what he may see; the worker, which sees all and takes one exchange after the other, has the last word.
 */
export async function checkPeerBudget(
  call: Call,
  { peer, sizes }: Pick<StoredExchange, 'peer' | 'sizes'>,
): Promise<Refusal | undefined> {
  const { peer_records_per_day, peer_exchanges_per_day } = call.settings(settings)
  let [records, count] = [sizes[peer] ?? 0, 1]
  let cursor: string | undefined
  do {
    const filter = { peer, agreed_ts: { gt: call.now() - day_ms } }
    const page = await call.store(exchanges).list({ filter, limit: 500, fresh: true, ...(cursor ? { cursor } : {}) })
    for (const { value } of page.docs) {
      if (!value.is_granted) continue
      records += value.sizes[peer] ?? 0
      count++
    }
    cursor = page.next_cursor
  } while (cursor)
  if (count > peer_exchanges_per_day)
    return refuse('over_budget', `${peer} has had its ${peer_exchanges_per_day} exchanges of a day`)
  if (records <= peer_records_per_day) return undefined
  return refuse(
    'over_budget',
    `${peer} would have brought ${records} records in a day, and may bring ${peer_records_per_day}`,
  )
}

// How much a peer may try against the records of this site in a day.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
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
  const filter = { peer, agreed_ts: { gt: call.now() - day_ms } }
  for await (const { value } of iterateDocuments(call.store(exchanges), { filter, fresh: true })) {
    if (!value.is_granted) continue
    records += value.sizes[peer] ?? 0
    count++
  }
  if (count > peer_exchanges_per_day)
    return refuse('over_budget', `${peer} has had its ${peer_exchanges_per_day} exchanges of a day`)
  if (records <= peer_records_per_day) return undefined
  return refuse(
    'over_budget',
    `${peer} would have brought ${records} records in a day, and may bring ${peer_records_per_day}`,
  )
}

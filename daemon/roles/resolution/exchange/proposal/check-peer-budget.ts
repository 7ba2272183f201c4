// The daily budget of a peer: the number of exchanges, and of records that it may compare with records of this site.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import { settings } from '../../settings.ts'
import { exchanges, type StoredExchange } from '../model.ts'

const day_ms = 86_400_000

/**
 * Counts the exchanges granted to the peer in the last 24 hours, of either proposer and with any outcome. A request
 * counts exchanges that its caller may see; the worker, which sees all and grants one at a time, checks again.
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
    return refuse(
      'over_budget',
      `${peer} has used its ${peer_exchanges_per_day} exchanges within 24 hours: try again later`,
    )
  if (records <= peer_records_per_day) return undefined
  return refuse(
    'over_budget',
    `${peer} would send ${records} records within 24 hours, and may send ${peer_records_per_day}: try again later`,
  )
}

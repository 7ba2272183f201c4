// The records that a site brings into an exchange: read, cut down to what was agreed, and kept until it is over.

import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { NodeRecords } from '../../fusion-run/node-data.ts'
import type { StoredLens } from '../../lens/stored-lens.ts'
import { settings } from '../../settings.ts'
import type { ExchangeAgreement } from '../agreement/agreement.ts'
import { exchangeWork, type OwnRecordSet } from '../job/exchange-jobs.ts'
import { storePieces } from '../piece/piece-sets.ts'

/** Refuses data that the lens cannot see, more than was agreed, and none at all. */
export async function readOwnRecords(
  call: Call,
  tenant_id: string,
  { exchange_id, fields, privacy, max_set_size, max_set_bytes }: ExchangeAgreement,
  { value: { body: lens } }: Doc<StoredLens>,
  data: NodeRecords,
  signal: AbortSignal,
): Promise<OwnRecordSet | Refusal> {
  const most = call.settings(settings).inline_records
  if (Array.isArray(data) && data.length > most)
    return refuse('invalid', `the request brings ${data.length} records, and may bring ${most}: name a data file`)
  const absent = lens.fields.filter(({ name, optional }) => !optional && !fields.includes(name))
  if (privacy === 'none' && absent.length > 0)
    return refuse('invalid', `the lens cannot do without ${absent.map(({ name }) => name).join(', ')}`)
  const given = { tenant_id, data, lens, terms: { fields, privacy, max_set_size, max_set_bytes } }
  return await call.part(exchangeWork).perform(exchange_id, 'read_own', given, signal)
}

/** Durable when it resolves: the name of the set, by what is in it, so that no other attempt to agree lends its records. */
export async function storeOwnRecords(
  call: Call,
  tenant_id: string,
  exchange_id: string,
  { pieces, records }: OwnRecordSet,
): Promise<string> {
  const what = `own.${canonicalDigest(pieces).slice(0, 24)}`
  await storePieces(call, { tenant_id, exchange_id, from: call.site.name, what }, records, pieces)
  return what
}

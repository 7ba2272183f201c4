// Reads the records that this site brings into an exchange, reduced to the agreement, and stores them until it ends.

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

/** Refuses data that the lens cannot read, more records than agreed, and none at all. */
export async function readOwnRecords(
  call: Call,
  tenant_id: string,
  { exchange_id, fields, privacy, max_set_size, max_set_bytes }: ExchangeAgreement,
  { value: { body: lens } }: Doc<StoredLens>,
  data: NodeRecords,
  signal: AbortSignal,
): Promise<OwnRecordSet | Refusal> {
  const max_inline = call.settings(settings).inline_records
  if (Array.isArray(data) && data.length > max_inline)
    return refuse(
      'invalid',
      `the request has ${data.length} records, and may have ${max_inline}: name a data file instead`,
    )
  const absent = lens.fields.filter(({ name, optional }) => !optional && !fields.includes(name))
  if (privacy === 'none' && absent.length > 0)
    return refuse(
      'invalid',
      `the agreement lacks fields that the lens requires: ${absent.map(({ name }) => name).join(', ')}`,
    )
  const input = { tenant_id, data, lens, terms: { fields, privacy, max_set_size, max_set_bytes } }
  return await call.part(exchangeWork).perform(exchange_id, 'read_own', input, signal)
}

/** Returns the name of the set once it is durable. The name follows from the content, so that two attempts to agree never mix. */
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

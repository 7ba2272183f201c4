// Reads the records of this site for an exchange, reduced to the agreed fields, and stores them until it ends.

import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { NodeRecords } from '../../fusion-run/node-data.ts'
import type { StoredLens } from '../../lens/stored-lens.ts'
import { settings } from '../../settings.ts'
import { listWithdrawnRefs } from '../../withdrawal/list-withdrawn.ts'
import type { ExchangeAgreement } from '../agreement/agreement.ts'
import { exchangeWork, type OwnRecordSet } from '../job/exchange-jobs.ts'
import { storePieces } from '../piece/piece-sets.ts'

/** Reads the records. Refuses data that the lens cannot read, more records than agreed, and an empty set. */
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
  const missing = lens.fields.filter(({ name, optional }) => !optional && !fields.includes(name))
  if (privacy === 'none' && missing.length > 0)
    return refuse(
      'invalid',
      `the agreement lacks fields that the lens requires: ${missing.map(({ name }) => name).join(', ')}`,
    )
  const refs = await listWithdrawnRefs(call, { tenant_id, lens: lens.lens }, { nodes: [call.site.name] })
  const withdrawn = refs.map(({ record_id }) => record_id)
  const input = { tenant_id, data, lens, withdrawn, terms: { fields, privacy, max_set_size, max_set_bytes } }
  return await call.part(exchangeWork).perform(exchange_id, 'read_own', input, signal)
}

/** Returns the name of the set once it is durable. The name derives from the content, so that attempts never mix. */
export async function storeOwnRecords(
  call: Call,
  tenant_id: string,
  exchange_id: string,
  { pieces, records }: OwnRecordSet,
): Promise<string> {
  const name = `own.${canonicalDigest(pieces).slice(0, 24)}`
  await storePieces(call, { tenant_id, exchange_id, from: call.site.name, what: name }, records, pieces)
  return name
}

// The records that a site brings into an exchange: read, cut down to what was agreed, and kept until it is over.

import type { Call } from '../../../kernel/call.ts'
import { digestOf } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { NodeRecords } from '../fusion-run/node-data.ts'
import { lenses, lensUid, type StoredLens } from '../lens/stored.ts'
import { dataFilesPart } from '../parts.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { settings } from '../settings.ts'
import type { Agreement } from './agreement.ts'
import { cutRows, keepPieces } from './pieces.ts'
import { type Row, rowsOf, seenRows } from './rows.ts'

export type OwnData = { readonly rows: readonly Row[]; readonly size: number }

/** Refuses data that the lens cannot see, more than was agreed, and none at all. */
export async function ownData(
  call: Call,
  tenant_id: string,
  { fields, privacy, max_set_size }: Pick<Agreement, 'fields' | 'privacy' | 'max_set_size'>,
  { value: { body: lens } }: Doc<StoredLens>,
  data: NodeRecords,
): Promise<OwnData | Refused> {
  const most = call.settings(settings).inline_records
  if (Array.isArray(data) && data.length > most)
    return refuse('invalid', `the request brings ${data.length} records, and may bring ${most}: name a data file`)
  const records = Array.isArray(data)
    ? data
    : await call.part(dataFilesPart).read(tenant_id, data.file, lens, max_set_size)
  if (isRefused(records)) return records
  const absent = lens.fields.filter(({ name, optional }) => !optional && !fields.includes(name))
  if (privacy === 'none' && absent.length > 0)
    return refuse('invalid', `the lens cannot do without ${absent.map(({ name }) => name).join(', ')}`)
  const rows = rowsOf(lens, fields, records)
  if (isRefused(rows)) return rows
  const size = privacy === 'psi' ? recordKeys(seenRows(lens, fields, rows), fields).keys.length : rows.length
  if (size === 0) return refuse('invalid', 'no record has all of the agreed fields')
  if (rows.length <= max_set_size) return { rows, size }
  return refuse('invalid', `there are ${rows.length} records, and the agreement allows ${max_set_size}`)
}

/** Durable when it resolves: the name of the set, by what is in it, so that no other attempt to agree lends its records. */
export async function keepOwn(call: Call, tenant_id: string, exchange_id: string, { rows }: OwnData): Promise<string> {
  const pieces = cutRows(rows)
  const what = `own.${digestOf(pieces).slice(0, 24)}`
  await keepPieces(call, { tenant_id, exchange_id, from: call.site.name, what }, rows.length, pieces)
  return what
}

/** The lens of the agreement as this tenant has it; refused where it is not there, or says something else here. */
export async function lensOf(call: Call, tenant_id: string, agreement: Agreement): Promise<Doc<StoredLens> | Refused> {
  const { lens, lens_version, lens_digest } = agreement
  const found = await call.store(lenses).find(lensUid(tenant_id, lens, lens_version))
  if (!found) return refuse('not_found', `this site has no lens ${lens} ${lens_version}`)
  return found.value.digest === lens_digest
    ? found
    : refuse('invalid', `${lens} ${lens_version} says something else at the peer`)
}

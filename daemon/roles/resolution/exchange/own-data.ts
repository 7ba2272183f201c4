// The records that a site brings into an exchange: read, cut down to what was agreed, and kept until it is over.
import type { Call } from '../../../kernel/call.ts'
import { digestOf } from '../../../kernel/canonical.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { NodeRecords } from '../fusion-run/node-data.ts'
import { lenses, lensUid, type StoredLens } from '../lens/stored.ts'
import { settings } from '../settings.ts'
import type { Agreement } from './agreement.ts'
import { exchangeWork, type OwnData } from './deeds.ts'
import { keepPieces } from './pieces.ts'

/** Refuses data that the lens cannot see, more than was agreed, and none at all. */
export async function ownData(
  call: Call,
  tenant_id: string,
  { exchange_id, fields, privacy, max_set_size, max_set_bytes }: Agreement,
  { value: { body: lens } }: Doc<StoredLens>,
  data: NodeRecords,
  signal: AbortSignal,
): Promise<OwnData | Refused> {
  const most = call.settings(settings).inline_records
  if (Array.isArray(data) && data.length > most)
    return refuse('invalid', `the request brings ${data.length} records, and may bring ${most}: name a data file`)
  const absent = lens.fields.filter(({ name, optional }) => !optional && !fields.includes(name))
  if (privacy === 'none' && absent.length > 0)
    return refuse('invalid', `the lens cannot do without ${absent.map(({ name }) => name).join(', ')}`)
  const given = { tenant_id, data, lens, terms: { fields, privacy, max_set_size, max_set_bytes } }
  return await call.part(exchangeWork).perform(exchange_id, 'own', given, signal)
}

/** Durable when it resolves: the name of the set, by what is in it, so that no other attempt to agree lends its records. */
export async function keepOwn(
  call: Call,
  tenant_id: string,
  exchange_id: string,
  { pieces, records }: OwnData,
): Promise<string> {
  const what = `own.${digestOf(pieces).slice(0, 24)}`
  await keepPieces(call, { tenant_id, exchange_id, from: call.site.name, what }, records, pieces)
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

// A record as the registry knows it: what it says, which cluster the engine found for it, and which entity it is.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { instant, type RecordRef, recordRef, shortText, uid } from '../fields.ts'

export const storedRecord = z.strictObject({
  tenant_id: z.string(),
  label,
  lens: shortText,
  ref: recordRef,
  /** Field to value in normal form, as the lens sees it; fields without a value are left out. */
  values: z.record(z.string(), z.string()),
  /** What the engine put together, before any decision of people: the uid of the first record of that cluster. */
  base: uid,
  /** What the run put together, where `base` is more since: records that came joined it to another cluster. */
  found: uid.optional(),
  /** It came by itself, after the run: still to be matched, or matched as of `run_id`. */
  arrived: z.enum(['waiting', 'matched']).optional(),
  came_at: instant.optional(),
  /** The entity that it is, after all decisions; absent until that is settled for the first time. */
  entity: uid.optional(),
  run_id: uid,
  /** The number under which it was written last; see `write-numbered.ts`. */
  written: z.int().min(1).optional(),
  updated_at: instant,
})
export type StoredRecord = z.infer<typeof storedRecord>

export const entityRecords = collection({
  name: 'entity_record',
  schema: storedRecord,
  indexes: ['lens', 'base', 'entity', 'run_id', 'arrived', 'written', 'updated_at'],
})

/** The same record under one lens is one record of the registry, whichever run brings it. */
export function recordUid(tenant_id: string, lens: string, { node_id, record_id }: RecordRef): string {
  return `rec_${sha256(JSON.stringify([tenant_id, lens, node_id, record_id])).slice(0, 32)}`
}

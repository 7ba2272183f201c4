// A file of records that arrived in a folder: how far it is registered, and what became of its records.
import * as z from 'zod'
import type { Doc } from '../../../kernel/store/store.ts'
import { collection } from '../../../kernel/store/store.ts'
import { arrivedRecordOutcomes } from '../arrival/model.ts'
import { max_listed_rows } from '../arrival-folder/watched-folder.ts'
import { count, instant, provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'

export const arrivalFileState = z.enum(['reading', 'done', 'failed']).meta({
  description: 'done: every record was registered; failed: some were not, or none; the reasons lie beside the file',
})

const refusedRow = z.strictObject({ row: count.optional(), line: count.optional(), reason: z.string() })

const fileFields = {
  folder: shortText,
  file: z.string().max(255),
  claim: z.string().max(255).meta({ description: 'Name of its own folder in work, done or failed' }),
  lens: shortText,
  node_id: shortText,
  state: arrivalFileState,
  size: count.meta({ description: 'Bytes' }),
  digest: z.string().meta({ description: 'SHA-256 of the content, hexadecimal' }),
  next_row: z.int().min(1).meta({ description: '1-based number of the record after the last one that is answered' }),
  outcomes: z.partialRecord(z.enum(arrivedRecordOutcomes), count).meta({ description: 'Records by their outcome' }),
  refused: count.meta({ description: 'Records that were left out' }),
  first_refused: z.array(refusedRow).max(max_listed_rows),
  failure: z.strictObject({ code: shortText, reason: z.string() }).optional(),
  updated_at: instant,
}

const storedArrivalFile = z.strictObject({
  ...provenanceFields,
  ...fileFields,
  /** The id column, which decides the ends of batches: it must not change while the file is read. */
  id_field: shortText,
  /** Bytes of the answers that belong to the records before `next_row`. */
  answers_bytes: count,
  expires_ts: z.number().optional(),
})
export type StoredArrivalFile = z.infer<typeof storedArrivalFile>

export const arrivalFiles = collection({
  name: 'arrival_file',
  schema: storedArrivalFile,
  indexes: ['folder', 'state', 'created_at'],
})

export const arrivalFileView = z
  .strictObject({ uid, version: z.int().min(1), ...provenanceViewFields, ...fileFields })
  .meta({ id: 'ArrivalFile', description: 'A file of records that arrived in a folder of the profile' })

export function showArrivalFile({ id, version, value }: Doc<StoredArrivalFile>): z.infer<typeof arrivalFileView> {
  const { label: classification, id_field: _column, answers_bytes: _bytes, expires_ts: _until, ...rest } = value
  return { uid: id, version, classification, ...rest }
}

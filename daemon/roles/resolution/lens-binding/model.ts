// A lens binding: the version of a lens in use for an entity type, and the columns that it reads in a data set.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { shortText, uid } from '../fields.ts'

const bindingFields = {
  entity_type: shortText,
  lens: shortText,
  lens_id: uid.meta({ description: 'uid of the version in use' }),
  lens_version: shortText,
  dataset: shortText.optional().meta({ description: 'The node whose records the lens reads; any node when absent' }),
  columns: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Column of the data set that each field is read from, by field' }),
  run_id: uid.optional().meta({ description: 'The last run that used this binding' }),
  updated_at: z.iso.datetime(),
}

const storedBinding = z.strictObject({ tenant_id: z.string(), label, ...bindingFields })
export type StoredBinding = z.infer<typeof storedBinding>

export const lensBindings = collection({
  name: 'lens_binding',
  schema: storedBinding,
  documented: { alias: 'fusion', fields: { uid: 'id' } },
  indexes: ['entity_type', 'lens', 'lens_id', 'dataset', 'updated_at'],
})

/** One binding for each lens and data set. Without a data set: one for each lens and entity type. */
export function bindingUid(tenant_id: string, lens: string, entity_type: string, dataset: string | undefined): string {
  return `bind_${sha256(JSON.stringify([tenant_id, lens, entity_type, dataset ?? null])).slice(0, 32)}`
}

export const bindingView = z
  .strictObject({ uid, version: z.int().min(1), tenant_id: z.string(), classification: label, ...bindingFields })
  .meta({ id: 'LensBinding' })

export const bindingSummary = z
  .strictObject({
    uid,
    entity_type: shortText,
    lens: shortText,
    lens_version: shortText,
    dataset: shortText.optional(),
  })
  .meta({ id: 'LensBindingSummary' })

export function showBinding({ id, version, value: { label: classification, ...rest } }: Doc<StoredBinding>) {
  return { uid: id, version, classification, ...rest }
}

export function summariseBinding({ id, value }: Doc<StoredBinding>): z.infer<typeof bindingSummary> {
  const { entity_type, lens, lens_version, dataset } = value
  return { uid: id, entity_type, lens, lens_version, ...(dataset === undefined ? {} : { dataset }) }
}

// A lens as the service stores it: its body, immutable within a version, with owner and label.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'
import { lens } from './model.ts'

const lensIdentityFields = { lens: shortText, lens_version: shortText, entity_type: shortText }

const storedLens = z.strictObject({
  ...provenanceFields,
  ...lensIdentityFields,
  body: lens,
  digest: z.string().meta({ description: 'Digest of the body; constant within a version' }),
})
export type StoredLens = z.infer<typeof storedLens>

export const lenses = collection({
  name: 'lens',
  schema: storedLens,
  documented: { alias: 'fusion', fields: { uid: 'id' } },
  indexes: ['lens', 'lens_version', 'entity_type', 'created_at'],
})

/** Derives the id of one version of a tenant's lens; see `holdName` for a version that has another. */
export function lensUid(tenant_id: string, name: string, version: string): string {
  return `lens_${sha256(JSON.stringify([tenant_id, name, version])).slice(0, 32)}`
}

export const lensSummary = z
  .strictObject({ uid, ...lensIdentityFields, created_at: z.iso.datetime() })
  .meta({ id: 'LensSummary' })

export const lensView = z
  .strictObject({ uid, ...provenanceViewFields, ...lensIdentityFields, digest: z.string(), body: lens })
  .meta({ id: 'Lens' })

export function showLens({ id, value: { label, ...rest } }: Doc<StoredLens>): z.infer<typeof lensView> {
  return { uid: id, classification: label, ...rest }
}

export function summariseLens({ id, value }: Doc<StoredLens>): z.infer<typeof lensSummary> {
  const { lens: name, lens_version, entity_type, created_at } = value
  return { uid: id, lens: name, lens_version, entity_type, created_at }
}

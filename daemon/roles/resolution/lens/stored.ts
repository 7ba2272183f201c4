// A lens as the service keeps it: its document, immutable within a version, with whose it is.
import * as z from 'zod'
import { sha256 } from '../../../kernel/canonical.ts'
import { collection, type Doc } from '../../../kernel/store.ts'
import { origin, shownOrigin, uid, word } from '../fields.ts'
import { lens } from './model.ts'

const named = { lens: word, lens_version: word, entity_type: word }

export const storedLens = z.strictObject({
  ...origin,
  ...named,
  body: lens,
  digest: z.string().meta({ description: 'Of the body: within a version it never changes' }),
})
export type StoredLens = z.infer<typeof storedLens>

export const lenses = collection({
  name: 'lens',
  schema: storedLens,
  indexes: ['lens', 'lens_version', 'entity_type', 'created_at'],
})

/** One version of a lens of a tenant has one id. */
export function lensUid(tenant_id: string, name: string, version: string): string {
  return `lens_${sha256(JSON.stringify([tenant_id, name, version])).slice(0, 32)}`
}

export const lensSummary = z.strictObject({ uid, ...named, created_at: z.iso.datetime() }).meta({ id: 'LensSummary' })

export const lensView = z
  .strictObject({ uid, ...shownOrigin, ...named, digest: z.string(), body: lens })
  .meta({ id: 'Lens' })

export function shown({ id, value: { label, ...rest } }: Doc<StoredLens>): z.infer<typeof lensView> {
  return { uid: id, classification: label, ...rest }
}

export function short({ id, value }: Doc<StoredLens>): z.infer<typeof lensSummary> {
  const { lens: name, lens_version, entity_type, created_at } = value
  return { uid: id, lens: name, lens_version, entity_type, created_at }
}

// Fields that inputs and documents of this role share.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'

export const shortText = requiredText(256)
export const uid = z.string().min(1).max(128)
export const uidInput = z.strictObject({ uid })
export const count = z.int().min(0)
/** The normal form of stored values, where it matters. */
export const textForm = z.int().min(1).max(1_000).optional()

export const instant = z.iso.datetime()

export const summaryField = {
  summary: z.boolean().default(false).meta({ description: 'Return short items: identifying fields only' }),
}

/** Owner, label and origin of a document, as every document of this role stores them. */
export const provenanceFields = { tenant_id: z.string(), label, created_by: shortText, created_at: instant }

/** Owner, label and origin of a document, as the API shows them. */
export const provenanceViewFields = {
  tenant_id: z.string(),
  classification: label,
  created_by: shortText,
  created_at: instant,
}

/** The version of a lens that produced a document; `lens_id` is its uid. */
export const lensVersionFields = { lens: shortText, lens_id: uid, lens_version: shortText, entity_type: shortText }

export const recordRef = z
  .strictObject({ node_id: shortText, record_id: requiredText(4_096) })
  .meta({ id: 'RecordRef', description: 'A record, by the node that holds it and its id there' })
export type RecordRef = z.infer<typeof recordRef>

/** A registry: the records, matches and entities of one lens and tenant. */
export type RegistryKey = { readonly tenant_id: string; readonly lens: string }

/** Seed of a run: the same data, lens and seed give the same result on every site. */
export const seed = z
  .int()
  .min(0)
  .max(4_294_967_295)
  .default(0)
  .meta({ description: 'The same seed gives the same result' })

/** What a run left out at one of its limits. */
export const leftOut = z
  .strictObject({
    what: z.enum(['matches', 'text_neighbours', 'withdrawn_records', 'reformed_records']).meta({
      description:
        'matches: pairs with the lowest scores that were not stored; text_neighbours: the search for similar texts without a shared key; withdrawn_records: records that were forgotten, or whose entity was deleted; reformed_records: records of the registry that no source has, whose stored texts were brought into the form of this version: what the earlier form had dropped, such as vowel marks, is not there',
    }),
    count: count.meta({ description: 'Pairs that were not stored, or records that were not searched or not read' }),
    limit: count.meta({
      description:
        'resolution.max_matches, or the largest number of records that are searched; 0 for withdrawn and reformed records',
    }),
  })
  .meta({ id: 'RunLeftOut' })
export type LeftOut = z.infer<typeof leftOut>

// An arrival: records that a request adds without a run, stored until they are in the registry and matched.
import * as z from 'zod'
import { storedPrincipal } from '../../../kernel/identity/delegation.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import {
  count,
  instant,
  provenanceFields,
  provenanceViewFields,
  recordRef,
  shortText,
  textForm,
  uid,
} from '../fields.ts'

/** The words of every answer about records that are matched without a run: REST, tools, commands and files. */
export const arrivedRecordOutcomes = [
  'new',
  'joined',
  'merged',
  'replaced',
  'unchanged',
  'forgotten',
  'deleted',
] as const

const arrivedRecordOutcome = z.enum(arrivedRecordOutcomes).meta({
  description:
    'new: the record began an entity, alone or with others of the request, as far as the caller may see; joined: it joined one that was there; merged: it joined one, and others went into it by that; replaced: the registry had the record with other values; forgotten: the record was forgotten, and is not stored again; deleted: its entity was deleted with these values, and it stays out of matching',
})
export type ArrivedRecordOutcome = z.infer<typeof arrivedRecordOutcome>

const storedArrival = z.strictObject({
  ...provenanceFields,
  lens: shortText,
  node_id: shortText,
  records: z.array(
    z.strictObject({
      ref: recordRef,
      values: z.record(z.string(), z.string()),
      text_form: textForm,
      /** `new` until the record is matched. */
      outcome: arrivedRecordOutcome.optional(),
      merged_from: z.array(uid).optional(),
    }),
  ),
  request_digest: z.string(),
  /** The person who sent the records, until they are in the registry: its rights are looked up again before they are. */
  principal: storedPrincipal.optional(),
  /** The folder of the profile that the records came from, in place of a person. */
  folder: shortText.optional(),
  /** 1 until all records are in the registry and matched; an index, so that the worker finds the arrival. */
  owes: z.union([z.literal(0), z.literal(1)]),
  failure: z.strictObject({ code: shortText, reason: z.string() }).optional(),
  /** Time at which the values were removed, once the registry has them or will not; an index. */
  emptied_at: instant.optional(),
  expires_ts: z.number().optional(),
})
export type StoredArrival = z.infer<typeof storedArrival>

export const arrivals = collection({
  name: 'arrival',
  schema: storedArrival,
  indexes: ['lens', 'owes', 'emptied_at', 'created_at', 'created_by'],
})

/** Topic: the records of an arrival are matched. */
export function arrivalTopic(id: string): string {
  return `resolution.arrival/${id}`
}

export function isMatched({ owes }: StoredArrival): boolean {
  return owes === 0
}

const arrivedRecord = z
  .strictObject({
    record_id: z.string(),
    outcome: arrivedRecordOutcome.optional(),
    merged_from: z.array(uid).optional().meta({
      description: 'merged: the entities that went into that of the record; without those that the caller may not see',
    }),
    entity: uid.optional().meta({ description: 'Entity of the record; absent where the caller may not see it' }),
    classification: label.optional().meta({ description: 'Label of the entity' }),
    size: count.optional().meta({ description: 'Records of the entity, this one included' }),
  })
  .meta({ id: 'ArrivedRecord' })

export const arrivalView = z
  .strictObject({
    uid,
    version: z.int().min(1),
    ...provenanceViewFields,
    lens: shortText,
    node_id: shortText,
    state: z.enum(['waiting', 'matched', 'failed']),
    failure: storedArrival.shape.failure.meta({ description: 'Reason why the records cannot be matched' }),
    items: z.array(arrivedRecord).meta({ description: 'Results in the order of the request' }),
  })
  .meta({ id: 'Arrival', description: 'Records that were matched without a run' })
export type ArrivalView = z.infer<typeof arrivalView>

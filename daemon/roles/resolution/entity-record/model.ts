// A record of the registry: its values, the cluster that the engine put it in, and its entity.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { instant, type RecordRef, recordRef, shortText, textForm, uid } from '../fields.ts'

/** `forgotten`: its values are erased, and it is never stored again; `deleted`: its entity was. */
const withdrawal = z.strictObject({
  kind: z.enum(['forgotten', 'deleted']),
  at: instant,
  by: shortText,
  reason: z.string(),
  /** The entity that was deleted. */
  entity: uid.optional(),
})
export type Withdrawal = z.infer<typeof withdrawal>

const storedRecord = z.strictObject({
  tenant_id: z.string(),
  label,
  lens: shortText,
  ref: recordRef,
  /** Field to value in the normal form of the lens; fields without a value are absent. */
  values: z.record(z.string(), z.string()),
  text_form: textForm,
  /** The engine's cluster, before any decision: the uid of its first record. */
  base: uid,
  /** The cluster of the run where `base` differs, since arrived records joined it to another cluster. */
  found: uid.optional(),
  /** State of a record that arrived after the run: waiting to be matched, or matched by the weights of `run_id`. */
  arrived: z.enum(['waiting', 'matched']).optional(),
  came_at: instant.optional(),
  /** Time at which the registry received its values; absent for a record that an earlier release stored. */
  values_at: instant.optional(),
  /** The entity after all decisions; absent until it is clustered for the first time. */
  entity: uid.optional(),
  run_id: uid,
  /** The number of the last write; see `write-numbered.ts`. */
  written: z.int().min(1).optional(),
  /** Why it takes no part in matching any longer. */
  withdrawn: withdrawal.optional(),
  /** `at` of `withdrawn`, as an index. */
  withdrawn_at: instant.optional(),
  /** What of its withdrawal is still to be done: entities, matches and arrivals; then files. */
  erasing: z.enum(['registry', 'files']).optional(),
  updated_at: instant,
})
export type StoredRecord = z.infer<typeof storedRecord>

export const entityRecords = collection({
  name: 'entity_record',
  schema: storedRecord,
  indexes: ['lens', 'base', 'entity', 'run_id', 'arrived', 'written', 'withdrawn_at', 'erasing', 'updated_at'],
  orders: [
    ['lens', 'written'],
    ['lens', 'arrived'],
  ],
})

/** Derives the id from tenant, lens and reference, so that every run finds the same record. */
export function recordUid(tenant_id: string, lens: string, { node_id, record_id }: RecordRef): string {
  return `rec_${sha256(JSON.stringify([tenant_id, lens, node_id, record_id])).slice(0, 32)}`
}

export const recordView = z
  .strictObject({
    uid,
    classification: label,
    lens: shortText,
    ref: recordRef,
    values: z
      .record(z.string(), z.string())
      .meta({ description: 'Field to value in the normal form of the lens; fields without a value are absent' }),
    entity: uid.optional(),
    run_id: uid.meta({ description: 'The latest run that had the record, or whose weights matched its arrival' }),
    arrived_at: instant
      .optional()
      .meta({ description: 'Arrival that its values are of; absent for values of the run' }),
    updated_at: instant,
  })
  .meta({ id: 'EntityRecord' })

export function showRecord({ id, value }: Doc<StoredRecord>): z.infer<typeof recordView> {
  const { label: classification, lens, ref, values, entity, run_id, came_at, updated_at } = value
  const arrival = came_at === undefined ? {} : { arrived_at: came_at }
  return { uid: id, classification, lens, ref, values, ...(entity ? { entity } : {}), run_id, ...arrival, updated_at }
}

/** Whether the record is forgotten, or was of an entity that is deleted. */
export function isWithdrawn({ withdrawn }: Pick<StoredRecord, 'withdrawn'>): boolean {
  return withdrawn !== undefined
}

/** Topic: the withdrawal of a record has taken effect in the registry. */
export function recordTopic(id: string): string {
  return `resolution.entity-record/${id}`
}

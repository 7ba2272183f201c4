// Changes of entities: stored with each change of an entity, then copied to a log that other systems follow.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { count, instant, recordRef, shortText, uid } from '../fields.ts'

const entityChangeKind = z.enum(['created', 'joined', 'left', 'split', 'merged', 'restored', 'deleted']).meta({
  description:
    'created: a new id, with `from` where it was split off; joined: records came, or all those of the entities `from`; left: records went; split: records went to the entities `into`; merged: the id ends, and its records are in `into`; restored: a merged id has records again; deleted: its records are in no entity',
})

const entityChangeCause = z
  .strictObject({
    kind: z.enum(['run', 'arrival', 'decision', 'withdrawal', 'deletion']),
    run_id: uid.optional().meta({
      description: 'The run, or the run whose weights matched an arrival; absent where the caller may not see it',
    }),
    match: uid.optional().meta({ description: 'The match that was decided; absent where the caller may not see it' }),
    by: shortText.optional().meta({ description: 'The person who decided or deleted, or `consensus`' }),
  })
  .meta({ id: 'EntityChangeCause' })
export type EntityChangeCause = z.infer<typeof entityChangeCause>

const refs = z.array(recordRef).optional()
const ids = z.array(uid).optional()

/** References only: values would outlive a record that is forgotten. */
const changeFields = {
  revision: z.int().min(1).meta({ description: '1-based number of the change among those of its entity' }),
  at: instant,
  change: entityChangeKind,
  size: count.meta({ description: 'Records of the entity after the change' }),
  joined: refs.meta({ description: 'Records that came one by one, 500 at most' }),
  left: refs.meta({ description: 'Records that went, 500 at most; without those that the caller may not see' }),
  unlisted: count.optional().meta({
    description: 'Records that came or went beyond those listed; absent where the caller may not see one that went',
  }),
  from: ids.meta({ description: 'Entities whose records came; without those that the caller may not see' }),
  into: ids.meta({ description: 'Entities that records went to; without those that the caller may not see' }),
  cause: entityChangeCause,
}

/** A change in the document of its entity, until it is in the log. */
export const unloggedEntityChange = z.strictObject({ ...changeFields, label })
export type UnloggedEntityChange = z.infer<typeof unloggedEntityChange>

export const entityChange = z
  .strictObject({
    id: z.string().meta({ description: 'Its entity and revision' }),
    entity: uid,
    lens: shortText,
    classification: label,
    ...changeFields,
  })
  .meta({ id: 'EntityChange', description: 'What one write changed of an entity' })
export type EntityChange = z.infer<typeof entityChange>

const storedEntityChange = z.strictObject({
  tenant_id: z.string(),
  label,
  lens: shortText,
  entity: uid,
  /** Position in the order of the tenant, as text. */
  place: z.string(),
  change: entityChange.omit({ classification: true }),
  expires_ts: z.number(),
})
export type StoredEntityChange = z.infer<typeof storedEntityChange>

export const entityChanges = collection({
  name: 'entity_change',
  schema: storedEntityChange,
  indexes: ['lens', 'entity', 'place'],
  orders: [
    ['lens', 'place'],
    ['entity', 'place'],
  ],
})

const changeReference = z.strictObject({ entity: uid, revision: z.int(), place: z.string() })
export type EntityChangeReference = z.infer<typeof changeReference>

/**
 * The head of the log of a tenant, whose name is its id. One write of it assigns positions to a batch of changes, which
 * are copied before the next batch is numbered: below `settled` nothing is inserted any more.
 */
const entityChangeLog = z.strictObject({
  tenant_id: z.string(),
  /** Number of the last batch: its time in epoch milliseconds, or later, since numbers increase. */
  batch: z.int().min(0),
  settled: z.int().min(0),
  /** Days for which the changes of the last batch are kept. */
  days: z.number().optional(),
  /** The last batch that was numbered under fewer days than a later one: its changes and older ones go earlier. */
  fewer: z.strictObject({ batch: z.int().min(0), days: z.number() }).optional(),
  pending: z.array(changeReference),
  /** 1 while `pending` is not empty; an index by which interrupted batches are found. */
  has_pending: z.union([z.literal(0), z.literal(1)]),
})
export type EntityChangeLog = z.infer<typeof entityChangeLog>

export const entityChangeLogs = collection({
  name: 'entity_change_log',
  schema: entityChangeLog,
  indexes: ['has_pending'],
})

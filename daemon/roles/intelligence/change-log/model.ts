// The change log: changes of signals with old and new values, in one order for each tenant, for other systems to
// follow.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { instant, rationale, shortText, uid } from '../fields.ts'

const fieldChange = z
  .strictObject({
    field: z.string().meta({ description: 'Field of the signal, such as status or metadata.archived' }),
    from: z.unknown().meta({ description: 'The old value; null if there was none' }),
    to: z.unknown().meta({ description: 'The new value; null if it was removed' }),
  })
  .meta({
    id: 'FieldChange',
    description: 'A new link to an insight goes from null to its uid, a removed link back to null',
  })
export type FieldChange = z.infer<typeof fieldChange>

const changeFields = {
  revision: z.int().min(1).meta({ description: 'Version of the signal after the change' }),
  at: instant,
  by: shortText,
  rationale: rationale.optional(),
  bulk: uid.optional().meta({ description: 'The bulk disposition that the change belongs to' }),
  fields: z.array(fieldChange),
}

/**
 * A change in its signal's document until it is in the log. `part`: one write may have different parts for different
 * viewers.
 */
export const unloggedChange = z.strictObject({ ...changeFields, part: z.int().min(0), label })
export type UnloggedChange = z.infer<typeof unloggedChange>

/** The change as the API returns it. */
export const signalChange = z
  .strictObject({ id: z.string(), signal_id: uid, ...changeFields })
  .meta({ id: 'SignalChange', description: 'The changes that one write made to a signal' })
export type SignalChange = z.infer<typeof signalChange>

/** A change in the log. `place`: position in the tenant's order, as text. */
const storedSignalChange = z.strictObject({
  tenant_id: z.string(),
  label,
  signal_id: uid,
  place: z.string(),
  change: signalChange,
})

export const signalChanges = collection({
  name: 'signal_change',
  schema: storedSignalChange,
  indexes: ['signal_id', 'place'],
  orders: [['signal_id', 'place']],
})

const changeReference = z.strictObject({ signal_id: uid, revision: z.int(), part: z.int(), place: z.string() })
export type ChangeReference = z.infer<typeof changeReference>

/**
 * The head of a tenant's log; its id is the name of the tenant. It assigns positions to a batch of changes in one
 * write. Those in `pending` are then copied to the log; `settled` is the last batch that is copied whole.
 */
const signalLog = z.strictObject({
  tenant_id: z.string(),
  /** Number of the last batch: its time in epoch milliseconds, or later, since numbers increase. */
  batch: z.int().min(0),
  settled: z.int().min(0),
  pending: z.array(changeReference),
  /** 1 while `pending` is not empty; an index by which interrupted batches are found. */
  owes: z.union([z.literal(0), z.literal(1)]),
})
export type SignalLog = z.infer<typeof signalLog>

export const signalLogs = collection({ name: 'signal_log', schema: signalLog, indexes: ['owes'] })

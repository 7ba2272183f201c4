// The change log: what became of signals, old value and new, in one order for each tenant that others can follow.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { instant, rationale, shortText, uid } from '../fields.ts'

export const fieldChange = z
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

/** A change in the signal's own document, until the log has it. `part`: one write may tell different viewers different things. */
export const unloggedChange = z.strictObject({ ...changeFields, part: z.int().min(0), label })
export type UnloggedChange = z.infer<typeof unloggedChange>

/** The change as the interface shows it. */
export const signalChange = z
  .strictObject({ id: z.string(), signal_id: uid, ...changeFields })
  .meta({ id: 'SignalChange', description: 'The changes that one write made to a signal' })
export type SignalChange = z.infer<typeof signalChange>

/** `place`: where it is in the tenant's order, as a text. */
export const storedSignalChange = z.strictObject({
  tenant_id: z.string(),
  label,
  signal_id: uid,
  place: z.string(),
  change: signalChange,
})
export type StoredSignalChange = z.infer<typeof storedSignalChange>

export const signalChanges = collection({
  name: 'signal_change',
  schema: storedSignalChange,
  indexes: ['signal_id', 'place'],
  orders: [['signal_id', 'place']],
})

export const changeReference = z.strictObject({ signal_id: uid, revision: z.int(), part: z.int(), place: z.string() })
export type ChangeReference = z.infer<typeof changeReference>

/**
 * The head of a tenant's log, under the tenant's name. Changes get their places here, some at a time, in one write;
 * those in `pending` are then copied into the log, and `settled` is the last batch of which all are.
 */
export const signalLog = z.strictObject({
  tenant_id: z.string(),
  /** Epoch milliseconds at which the last batch got its places, or later: each is greater than the one before. */
  batch: z.int().min(0),
  settled: z.int().min(0),
  pending: z.array(changeReference),
  /** 1 while `pending` is not empty; an index, so that what a stop cut short is found. */
  owes: z.union([z.literal(0), z.literal(1)]),
})
export type SignalLog = z.infer<typeof signalLog>

export const signalLogs = collection({ name: 'signal_log', schema: signalLog, indexes: ['owes'] })

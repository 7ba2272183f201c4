// The ledger of an insight: numbered events that are never changed or removed.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { instant, rationale, shortText, uid } from '../fields.ts'
import { signalStatus } from '../signal/model.ts'

const eventFields = { seq: z.int().min(1), at: instant, by: shortText }

export const ledgerEvent = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('insight_opened'), ...eventFields, signal_id: uid }),
    z.strictObject({ type: z.literal('signal_linked'), ...eventFields, signal_id: uid, status: signalStatus }),
    z.strictObject({ type: z.literal('signal_unlinked'), ...eventFields, signal_id: uid }),
    z.strictObject({
      type: z.literal('insight_edited'),
      ...eventFields,
      replaced: z
        .strictObject({ title: z.string().optional(), description: z.string().optional() })
        .meta({ description: 'Earlier texts of the edited fields' }),
    }),
    z.strictObject({ type: z.literal('investigation_started'), ...eventFields }),
    z.strictObject({
      type: z.literal('signal_disposition_set'),
      ...eventFields,
      signal_id: uid,
      from: signalStatus,
      to: signalStatus,
      rationale: rationale.optional(),
      bulk: uid.optional(),
    }),
    z.strictObject({ type: z.literal('signal_merged'), ...eventFields, signal_id: uid, into: uid }),
    z.strictObject({ type: z.literal('signal_unmerged'), ...eventFields, signal_id: uid, from: uid }),
    z.strictObject({ type: z.literal('edition_attested'), ...eventFields, edition_id: uid, closes: z.boolean() }),
    z.strictObject({
      type: z.literal('insight_closed'),
      ...eventFields,
      edition_id: uid.optional(),
      rationale: rationale.optional(),
    }),
  ])
  .meta({ id: 'LedgerEvent' })
export type LedgerEvent = z.infer<typeof ledgerEvent>

type WithoutSeq<E> = E extends unknown ? Omit<E, 'seq'> : never
/** An event before the insight assigns its number. */
export type NewLedgerEvent = WithoutSeq<LedgerEvent>

const storedLedgerEvent = z.strictObject({
  tenant_id: z.string(),
  label,
  insight_id: uid,
  seq: z.int().min(1),
  event: ledgerEvent,
})

export const ledgerEvents = collection({
  name: 'ledger_event',
  schema: storedLedgerEvent,
  indexes: ['insight_id', 'seq'],
  orders: [['insight_id', 'seq']],
})

/** The id of an event, which is deterministic, so that a repeated write changes nothing. */
export function ledgerEventId(insight_id: string, seq: number): string {
  return `${insight_id}:${seq}`
}

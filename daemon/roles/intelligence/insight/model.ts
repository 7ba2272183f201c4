// The model of an insight: an investigation that began with a signal, its links to signals, and its outbox.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { edition, storedEdition } from '../edition/model.ts'
import { documentFields, documentViewFields, instant, rationale, shortText, uid } from '../fields.ts'
import { ledgerEvent } from '../ledger/model.ts'

export const insightState = z.enum(['open', 'investigating', 'closed'])

/** Maximum number of links: all are in the document, and closing reads each linked signal. */
export const max_links = 500
export const max_editions = 100

/**
 * `told`: number of history steps of the signal that the ledger has; `merged_into`: its survivor, so that closing does not
 * depend on it; `via`: merged signals that brought this one, if nobody linked it directly.
 */
const signalLink = z.strictObject({
  signal_id: uid,
  told: z.int().min(0),
  merged_into: uid.optional(),
  via: z.array(uid).optional(),
})

const attributionFields = { by: shortText, at: instant }

/** An entry of the outbox of an insight. Entries are delivered in order; every delivery may be repeated. */
export const outboxEntry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('event'), id: shortText, event: ledgerEvent }),
  z.strictObject({
    type: z.literal('follow'),
    id: shortText,
    signal_id: uid,
    ...attributionFields,
    told: z.int().min(0),
    rationale: rationale.optional(),
    via: uid.optional(),
  }),
  z.strictObject({ type: z.literal('unfollow'), id: shortText, signal_id: uid, by: shortText, via: uid }),
  z.strictObject({ type: z.literal('advance'), id: shortText, signal_id: uid, by: shortText }),
  z.strictObject({ type: z.literal('resolve'), id: shortText, signal_id: uid, edition_id: uid, by: shortText }),
  z.strictObject({ type: z.literal('close'), id: shortText, edition_id: uid, by: shortText }),
])
export type InsightOutboxEntry = z.infer<typeof outboxEntry>

const insightInputFields = {
  title: z.string().trim().min(1).max(512),
  description: z.string().max(16_384).optional(),
}

const insightFields = {
  ...insightInputFields,
  state: insightState,
  entry_context: z
    .strictObject({
      type: z.literal('signal'),
      trigger: uid.meta({ description: 'The signal that the insight began with' }),
    })
    .meta({ id: 'EntryContext', description: 'Origin of the insight' }),
  started_by: shortText.optional(),
  started_at: instant.optional(),
  closed_by: shortText.optional(),
  closed_at: instant.optional(),
  closing_edition_id: uid.optional().meta({ description: 'The attested edition that closes it' }),
}

const storedInsight = z.strictObject({
  ...documentFields,
  ...insightFields,
  links: z.array(signalLink),
  editions: z.array(storedEdition),
  /** Number of ledger events, delivered or pending. */
  events: z.int().min(0),
  pending: z.array(outboxEntry),
  /** 1 while `pending` is not empty; an index by which the relay finds its work. */
  owes: z.union([z.literal(0), z.literal(1)]),
})
export type StoredInsight = z.infer<typeof storedInsight>

export const insights = collection({
  name: 'insight',
  schema: storedInsight,
  indexes: ['state', 'created_at', 'owes'],
  orders: [['state', 'created_at']],
})

export const insightInput = z.strictObject(insightInputFields)

/** The insight as the API returns it. */
export const insight = z
  .strictObject({
    uid,
    version: z.int().min(1),
    ...documentViewFields,
    ...insightFields,
    linked_signal_ids: z.array(uid),
    merged_signals: z
      .array(z.strictObject({ signal_id: uid, merged_into: uid }))
      .optional()
      .meta({ description: 'Linked signals that are merged into another linked signal' }),
    editions: z.array(edition),
    settled: z.boolean().meta({ description: 'Whether all updates of linked signals and the ledger are delivered' }),
  })
  .meta({ id: 'Insight' })
export type Insight = z.infer<typeof insight>

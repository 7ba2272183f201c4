// The model of a signal: an observation or computed event that may be worth an investigation, with its subject and history.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { collection } from '../../../kernel/store/store.ts'
import { severity, subject } from '../../../shared/signal-cause/signal-subject.ts'
import { unloggedChange } from '../change-log/model.ts'
import { documentFields, documentViewFields, instant, rationale, shortText, uid } from '../fields.ts'
import { signalIndex } from './documented-index.ts'

export const signalStatus = z.enum(['new', 'acknowledged', 'investigating', 'resolved', 'dismissed'])
export type SignalStatus = z.infer<typeof signalStatus>

export const source = z
  .strictObject({
    type: z.enum(['webhook', 'mcp', 'polling', 'internal', 'manual', 'computed']),
    name: shortText.optional().meta({ description: 'Name of the source, such as a detector, feed or rule' }),
    reference: requiredText(2_048).optional().meta({ description: 'ID or URI of this signal at the source' }),
  })
  .meta({ id: 'SignalSource', description: 'Source of the signal' })

export const actor = z
  .strictObject({ type: z.enum(['person', 'service', 'agent']), id: shortText, name: shortText.optional() })
  .meta({
    id: 'SignalActor',
    description: 'Person or service that noticed it, according to the sender; created_by is the sender',
  })

const statusChange = z
  .strictObject({
    from: signalStatus,
    to: signalStatus,
    by: shortText,
    at: instant,
    rationale: rationale.optional(),
    bulk: uid.optional().meta({ description: 'The bulk disposition that this step belongs to' }),
    event: z.enum(['merged', 'took_in', 'unmerged', 'let_go', 'linked', 'unlinked']).optional(),
    label: label
      .optional()
      .meta({ description: 'Never shown: label of the reason, if the label of the signal was higher then' }),
  })
  .meta({
    id: 'StatusChange',
    description:
      'One step of a signal; a link to an insight, and what `event` names, are steps that change no status; `linked` and `unlinked` follow a merge',
  })
export type StatusChange = z.infer<typeof statusChange>

/** The lists that include a signal. A silenced one becomes `listed` when it is acknowledged or investigated. */
export const visibility = z.enum(['listed', 'silenced', 'merged'])
export type SignalVisibility = z.infer<typeof visibility>

/** Fields of `metadata` that only the service writes. */
const systemMetadata = {
  status_history: z.array(statusChange),
  resolved_by_edition: uid.optional(),
  resolved_by_insight: uid.optional(),
  archived: z.literal(true).optional(),
  archived_by: shortText.optional(),
  archived_at: instant.optional(),
  expired_at: instant.optional().meta({ description: 'Time at which the service marked it as expired' }),
  received: z
    .strictObject({ from: shortText, as: z.string().max(1_024) })
    .optional()
    .meta({ description: 'Origin of a signal raised by intake, and its key there' }),
}
export const systemMetadataFields = Object.keys(systemMetadata)
export const metadata = z
  .object(systemMetadata)
  .catchall(z.unknown())
  .meta({ id: 'SignalMetadata', description: 'Further data of the sender, and the status history' })

/** Free fields of the sender. Names begin with a letter, since a store engine may interpret a leading symbol. */
export const freeFields = z.record(
  z.string().regex(/^[\p{L}_][\p{L}\p{N}_ .:-]{0,127}$/u, 'must begin with a letter'),
  z.unknown(),
)

/** The input of the sender, except the subject, which has two field names, and the label. */
export const signalInputFields = {
  signal_type: z.string().min(1).max(128).meta({ description: 'Free-form, such as watchlist_hit' }),
  source,
  severity,
  title: z.string().trim().min(1).max(512),
  description: z.string().max(16_384).optional(),
  detected_at: z.iso.datetime({ offset: true }),
  expires_at: z.iso.datetime({ offset: true }).optional(),
  confidence: z.number().min(0).max(1).optional(),
  related_signals: z.array(uid).max(100).optional(),
  routing: freeFields.optional(),
  visibility_context: freeFields.optional(),
}

const signalFields = {
  ...signalInputFields,
  detected_at: instant,
  expires_at: instant,
  schema_version: z.literal('1.1'),
  actor,
  subject,
  status: signalStatus,
  metadata,
  acknowledged_by: shortText.optional(),
  acknowledged_at: instant.optional(),
  acknowledgment_note: rationale.optional(),
}

/**
 * A link to an insight. `label`: of the insight; `told`: number of history steps that its ledger has; `via`:
 * merged signals that brought the link, if nobody made it directly; `stands`: key of the merge that the insight has recorded.
 */
const insightLink = z.strictObject({
  insight_id: uid,
  label,
  told: z.int().min(0),
  via: z.array(uid).optional(),
  stands: shortText.optional(),
})
export type InsightLink = z.infer<typeof insightLink>

const attributionFields = { by: shortText, at: instant, rationale }

/**
 * The survivor as stored in a merged signal. `key`: identifies this merge; `label`: of the survivor at that time;
 * `is_elsewhere`: whether the survivor is about another subject.
 */
const mergeIntoSurvivor = z.strictObject({
  into: uid,
  key: shortText,
  label,
  is_elsewhere: z.boolean(),
  ...attributionFields,
})

/**
 * A merged signal as stored in its survivor, with its contribution to it. `taking` and `leaving` are pending: the signal itself
 * is not updated yet.
 */
const mergedItem = z.strictObject({
  signal_id: uid,
  key: shortText,
  state: z.enum(['taking', 'taken', 'leaving']),
  label,
  subject,
  related: z.array(uid),
  ...attributionFields,
})
export type MergedSignalItem = z.infer<typeof mergedItem>

const storedSignal = z.strictObject({
  ...documentFields,
  ...signalFields,
  /** The full key of the request, of which the id is a prefix: distinguishes a repeated request from a collision. */
  request_key: z.string(),
  links: z.array(insightLink),
  subject_id: shortText,
  source_type: source.shape.type,
  source_name: shortText.optional(),
  visibility,
  /** The visibility in lists about a subject: these include a merged signal if its survivor is about another subject. */
  subject_visibility: visibility,
  /** The silence that matched on arrival, and the join of both labels. */
  silence_id: uid.optional(),
  silence_label: label.optional(),
  merge: mergeIntoSurvivor.optional(),
  taken_in: z.array(mergedItem).optional(),
  /** The label of this signal alone, while `label` is the join with its merged signals. */
  own_label: label.optional(),
  /** Epoch milliseconds of `expires_at`, while the signal is open and not marked as expired. */
  due_ts: z.number().optional(),
  /** 1 while updates of linked insights or merged signals are pending; an index for the relay. */
  owes: z.union([z.literal(0), z.literal(1)]),
  /** The version in the API: the number of visible changes. */
  revision: z.int().min(0),
  /** Changes that are not copied to the change log yet. */
  untold: z.array(unloggedChange),
  /** 1 while `untold` is not empty; an index for the log worker. */
  unlogged: z.literal(1).optional(),
  /** The key under which statistics count it. */
  tally: z.string(),
})
export type StoredSignal = z.infer<typeof storedSignal>

export const signals = collection({
  name: 'signal',
  schema: storedSignal,
  indexes: [
    ...(['status', 'severity', 'signal_type', 'subject_id', 'detected_at', 'due_ts', 'owes'] as const),
    ...(['source_type', 'source_name', 'visibility', 'subject_visibility', 'silence_id', 'unlogged', 'tally'] as const),
  ],
  documented: signalIndex,
  revision: ({ revision }) => revision,
  orders: [
    ['visibility', 'detected_at'],
    ['status', 'visibility', 'detected_at'],
    ['severity', 'visibility', 'detected_at'],
    ['signal_type', 'visibility', 'detected_at'],
    ['subject_id', 'subject_visibility', 'detected_at'],
    ['status', 'severity', 'visibility', 'detected_at'],
    ['status', 'signal_type', 'visibility', 'detected_at'],
    ['severity', 'signal_type', 'visibility', 'detected_at'],
    ['status', 'severity', 'signal_type', 'visibility', 'detected_at'],
    ['subject_id', 'status', 'subject_visibility', 'detected_at'],
    ['subject_id', 'severity', 'subject_visibility', 'detected_at'],
    ['subject_id', 'signal_type', 'subject_visibility', 'detected_at'],
    ['tally', 'label_key'],
  ],
})

/** The signal as the API returns it. */
export const signal = z
  .strictObject({
    uid,
    signal_id: uid.meta({ description: 'The same as uid' }),
    version: z.int().min(1),
    ...documentViewFields,
    ...signalFields,
    linked_insight_ids: z.array(uid),
    visibility: visibility.meta({ description: 'The lists that include it; plain lists include listed signals' }),
    silence_id: uid.optional().meta({ description: 'The silence that matched it on arrival' }),
    merged_into: uid.optional().meta({ description: 'The surviving signal that represents it' }),
    merged_at: instant.optional(),
    merged_by: shortText.optional(),
    merged_signals: z
      .array(z.strictObject({ signal_id: uid, subject, by: shortText, at: instant, settled: z.boolean() }))
      .optional()
      .meta({ description: 'Signals that it represents; its label and related_signals include theirs' }),
  })
  .meta({ id: 'Signal' })
export type Signal = z.infer<typeof signal>

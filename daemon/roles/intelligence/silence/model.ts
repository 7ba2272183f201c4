// The model of a silence: matchers, time span, owner and reason.
import * as z from 'zod'
import { clearance, label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { severity, subjectType } from '../../../shared/signal-cause/signal-subject.ts'
import { documentFields, documentViewFields, instant, rationale, shortText, uid } from '../fields.ts'
import { source } from '../signal/model.ts'

export const silenceState = z.enum(['pending', 'active', 'ended'])
export type SilenceState = z.infer<typeof silenceState>

/** Maximum number of pending and active silences of a tenant: each new signal is matched against all of them. */
export const max_silences = 200

const anyOfList = <T extends z.ZodType>(itemSchema: T) => z.array(itemSchema).min(1).max(100).optional()
const pattern = shortText
  .refine((value) => value !== '*', 'must have at least one character before the *')
  .meta({ description: 'A value, or a prefix followed by *' })

export const matchers = z
  .strictObject({
    signal_type: anyOfList(pattern),
    severity: anyOfList(severity),
    subject_type: anyOfList(subjectType),
    subject_id: anyOfList(pattern),
    source_type: anyOfList(source.shape.type),
    source_name: anyOfList(pattern),
  })
  .refine((value) => Object.values(value).some((values) => values !== undefined), 'must have at least one condition')
  .meta({ id: 'SilenceMatchers', description: 'A signal matches if it matches every given field' })
export type SilenceMatchers = z.infer<typeof matchers>

const silenceFields = {
  matchers,
  owner: shortText.meta({ description: 'Person responsible for it' }),
  reason: rationale,
  comment: z.string().max(4_096).optional(),
  starts_at: instant,
  ends_at: instant,
  ended_at: instant.optional().meta({ description: 'Time of an early end' }),
  ended_by: shortText.optional(),
  ended_because: rationale.optional(),
}

const { label: _own, ...unlabelled } = documentFields

export const storedSilence = z.strictObject({
  ...unlabelled,
  ...silenceFields,
  /**
   * The label of the silence, under another name than the label of a document: a silence applies to every sender of
   * the tenant, so the store must find it regardless of clearance. `view.ts` checks who may read it.
   */
  silence_label: label,
  /** Clearance of the creator; the silence does not apply to signals above it. */
  clearance: clearance.optional(),
  starts_ts: z.number(),
  /** The actual end, scheduled or early. */
  until_ts: z.number(),
})
export type StoredSilence = z.infer<typeof storedSilence>

export const silences = collection({
  name: 'silence',
  schema: storedSilence,
  indexes: ['created_at', 'starts_ts', 'until_ts'],
})

/** The silence as the API returns it. */
export const silence = z
  .strictObject({
    uid,
    version: z.int().min(1),
    ...documentViewFields,
    ...silenceFields,
    state: silenceState,
    silenced: z.int().min(0).meta({ description: 'Number of silenced signals that the viewer may see' }),
  })
  .meta({ id: 'Silence' })
export type SignalSilence = z.infer<typeof silence>

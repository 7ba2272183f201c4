// Takes a signal in: about a subject, under a short id, with the label that its inputs come to together.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { classification, dominates, join, type Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uid } from '../fields.ts'
import { signalTotal } from '../metrics.ts'
import { settings } from '../settings.ts'
import { begun } from './fresh.ts'
import { actor, type StoredSignal, said, signals } from './model.ts'
import { named } from './naming.ts'
import { subjectInput, subjectOf } from './subject.ts'
import { changedSignal, ownMetadata, senderMetadata, strippedOf, systemFields } from './system-fields.ts'
import { shown } from './view.ts'

const day_ms = 86_400_000

const [path = '', ...also] = ownedPaths('signal')

const input = z.strictObject({
  ...said,
  subject: subjectInput.optional(),
  subject_ref: subjectInput.optional().meta({ description: 'Another name of subject' }),
  actor: actor.optional(),
  metadata: senderMetadata,
  classification: classification.optional(),
  uid: uid.optional().meta({ description: 'The service’s own: taken out' }),
  ...systemFields,
})

export const create = operation({
  summary: 'Raise a signal about a subject',
  method: 'POST',
  path,
  also,
  tool: 'create_signal',
  input,
  output: changedSignal,
  status: 201,
  errors: ['label_denied', 'not_found', 'idempotency_mismatch'],
  allow: 'intelligence:write',
  creates: true,
  versioned: true,
  max_body_bytes: 131_072,

  async run(call, given) {
    const value = await raised(call, given)
    if (isRefused(value)) return value
    const made = await named(call, value)
    if (isRefused(made)) return made
    if (made.isNew) call.count(signalTotal, { status: 'new' })
    if (made.isNew) call.wake('log')
    return { ...shown(call, made.doc), stripped_fields: strippedOf(given, false) }
  },
})

type Given = z.output<typeof input>

/** Refuses what it is not about, times that cannot be, related signals that are not there, and a label above the caller. */
async function raised(call: Call, given: Given): Promise<StoredSignal | Refused> {
  const subject = subjectOf(given.subject, given.subject_ref)
  if (isRefused(subject)) return subject
  const times = timesOf(call, given)
  if (isRefused(times)) return times
  const related_signals = [...new Set(given.related_signals)]
  const label = await joinedLabel(call, given.classification ?? call.site.default_level, related_signals)
  if (isRefused(label)) return label
  const { tenant_id, subject: created_by } = call.caller
  const at = call.nowIso()
  const { signal_type, source, severity, title, description, confidence, routing, visibility_context } = given
  return begun(call, {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), request_key: call.newId('sig') },
    ...{ schema_version: '1.1', signal_type, source, severity, subject, title, ...times },
    actor: given.actor ?? { type: created_by.startsWith('role:') ? 'service' : 'person', id: created_by },
    metadata: { ...ownMetadata(given.metadata), status_history: [] },
    ...(description === undefined ? {} : { description }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(related_signals.length ? { related_signals } : {}),
    ...(routing ? { routing } : {}),
    ...(visibility_context ? { visibility_context } : {}),
  })
}

/** All in UTC, so that their texts stand in the order of time. */
export function timesOf(
  call: Call,
  { detected_at, expires_at, signal_type }: Pick<Given, 'detected_at' | 'expires_at' | 'signal_type'>,
) {
  const now = call.now()
  const detected = Date.parse(detected_at)
  if (!(detected <= now + day_ms))
    return refuse('invalid', 'the signal was detected in the future', [
      { path: 'detected_at', message: 'must not be more than a day ahead' },
    ])
  const { expiry_days, expiry_days_by_type: by_type } = call.settings(settings)
  const days = (Object.hasOwn(by_type, signal_type) ? by_type[signal_type] : undefined) ?? expiry_days
  const due_ts = expires_at === undefined ? now + days * day_ms : Date.parse(expires_at)
  return {
    detected_at: new Date(detected).toISOString(),
    expires_at: new Date(due_ts).toISOString(),
    due_ts,
  }
}

/** The join of what was given with the labels of all related signals; what it comes to must be the caller's to see. */
async function joinedLabel(call: Call, given: z.output<typeof classification>, related: readonly string[]) {
  const own = labelFor(call, given)
  if (isRefused(own)) return own
  const found = await Promise.all(related.map((each) => call.store(signals).find(each)))
  const missing = found.indexOf(undefined)
  if (missing >= 0) return refuse('not_found', `there is no related signal ${related[missing]}`)
  let joined: Label | undefined = own
  for (const doc of found) joined = joined && doc && join(joined, doc.value.label, call.site.labels)
  if (joined && dominates(call.caller, joined, call.site.labels)) return joined
  return refuse('label_denied', 'the label of the signal and of those related to it would leave it to nobody')
}

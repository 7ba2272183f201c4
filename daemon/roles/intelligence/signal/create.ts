// Creates a signal about a subject, with a short id and the join of the labels of its inputs.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { classification } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { joinVisibleLabels } from '../join-labels.ts'
import { signalTotal } from '../metrics.ts'
import { objectPaths } from '../object-paths.ts'
import { buildSignal } from './build-signal.ts'
import { actor, type StoredSignal, signalInputFields, signals } from './model.ts'
import { resolveTimes } from './resolve-times.ts'
import { storeNewSignal } from './store-new-signal.ts'
import { resolveSubject, subjectInput } from './subject.ts'
import {
  changedSignal,
  listStrippedFields,
  senderMetadata,
  systemFields,
  withoutSystemMetadata,
} from './system-fields.ts'
import { showSignal } from './view.ts'

const input = z.strictObject({
  ...signalInputFields,
  subject: subjectInput.optional(),
  subject_ref: subjectInput.optional().meta({ description: 'Alias of subject' }),
  actor: actor.optional(),
  metadata: senderMetadata,
  classification: classification.optional(),
  uid: uid.optional().meta({ description: 'Set by the service; removed from requests' }),
  ...systemFields,
})

export const create = operation({
  summary: 'Raise a signal about a subject',
  method: 'POST',
  ...objectPaths('signal'),
  tool: 'create_signal',
  input,
  output: changedSignal,
  status: 201,
  errors: ['label_denied', 'not_found', 'idempotency_mismatch'],
  allow: 'intelligence:write',
  creates: true,
  versioned: true,
  max_body_bytes: 131_072,

  async run(call, request) {
    const value = await buildFromInput(call, request)
    if (isRefusal(value)) return value
    const outcome = await storeNewSignal(call, value)
    if (isRefusal(outcome)) return outcome
    if (outcome.isNew) call.count(signalTotal, { status: 'new' })
    if (outcome.isNew) call.wake('log')
    return { ...showSignal(call, outcome.doc), stripped_fields: listStrippedFields(request, false) }
  },
})

type CreateSignalInput = z.output<typeof input>

/** Refuses an invalid subject, invalid times, unknown related signals, and a label above the caller's clearance. */
async function buildFromInput(call: Call, request: CreateSignalInput): Promise<StoredSignal | Refusal> {
  const subject = resolveSubject(request.subject, request.subject_ref)
  if (isRefusal(subject)) return subject
  const times = resolveTimes(call, request)
  if (isRefusal(times)) return times
  const related_signals = [...new Set(request.related_signals)]
  const label = await joinRelatedLabels(call, request.classification ?? call.site.default_level, related_signals)
  if (isRefusal(label)) return label
  const { tenant_id, subject: created_by } = call.caller
  const at = call.nowIso()
  const { signal_type, source, severity, title, description, confidence, routing, visibility_context } = request
  return buildSignal(call, {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), request_key: call.newId('sig') },
    ...{ schema_version: '1.1', signal_type, source, severity, subject, title, ...times },
    actor: request.actor ?? { type: created_by.startsWith('role:') ? 'service' : 'person', id: created_by },
    metadata: { ...withoutSystemMetadata(request.metadata), status_history: [] },
    ...(description === undefined ? {} : { description }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(related_signals.length ? { related_signals } : {}),
    ...(routing ? { routing } : {}),
    ...(visibility_context ? { visibility_context } : {}),
  })
}

/** The join of the given classification and the labels of all related signals; the caller must be cleared for it. */
async function joinRelatedLabels(call: Call, request: z.output<typeof classification>, related: readonly string[]) {
  const ownLabel = resolveClassification(call, request)
  if (isRefusal(ownLabel)) return ownLabel
  const related_docs = await Promise.all(related.map((each) => call.store(signals).find(each)))
  const missing = related_docs.indexOf(undefined)
  if (missing >= 0)
    return refuse('not_found', `related signal ${related[missing]} was not found: remove it from related_signals`)
  return joinVisibleLabels(
    call,
    [ownLabel, ...related_docs.flatMap((doc) => doc?.value.label ?? [])],
    'the joined label of the signal and its related signals is above your clearance: name fewer related signals',
  )
}

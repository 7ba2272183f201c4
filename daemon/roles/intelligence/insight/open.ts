// Opens an insight about a signal, its trigger and first link.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { type Classification, classification, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { joinVisibleLabels } from '../join-labels.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { signals } from '../signal/model.ts'
import { checkNotMerged } from '../signal/rules.ts'
import { insight, insightInput, insights, type StoredInsight } from './model.ts'
import { openInsight } from './rules.ts'
import { showInsight } from './view.ts'

export const open = operation({
  ...objectPaths('insight'),
  summary: 'Open an insight about a signal',
  method: 'POST',
  tool: 'insight_open',
  input: insightInput.extend({ signal_id: uid, classification: classification.optional() }),
  output: insight,
  status: 201,
  errors: ['not_found', 'wrong_state', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:review',
  creates: true,
  versioned: true,

  async run(call, { signal_id, classification: requestedClassification, ...fields }) {
    const { value: signal } = await call.store(signals).get(signal_id)
    const refusal = checkNotMerged(signal)
    if (refusal) return refusal
    const label = joinWithSignalLabel(call, requestedClassification, signal.label)
    if (isRefusal(label)) return label
    const { tenant_id } = call.caller
    const action = attributeAction(call)
    const newInsight: StoredInsight = {
      ...{ tenant_id, label, created_by: action.by, created_at: action.at, updated_at: action.at },
      ...{ request_digest: call.requestDigest(), ...fields, state: 'open' },
      entry_context: { type: 'signal', trigger: signal_id },
      ...{ links: [], editions: [], events: 0, pending: [], owes: 0 },
    }
    const steps = signal.metadata.status_history.length
    const value = openInsight(newInsight, { signal_id, status: signal.status, steps }, action)
    const id = call.newId('ins')
    const outcome = await call.store(insights).create(id, value, [call.audited(call.address, id, { signal_id }, label)])
    if (outcome === 'exists') return answerRepeatedRequest(call, id)
    call.wake('relay')
    return showInsight(outcome)
  },
})

/** The label of the signal, or a higher one that covers it. */
function joinWithSignalLabel(
  call: Call,
  requestedClassification: Classification | undefined,
  signal: Label,
): Label | Refusal {
  if (requestedClassification === undefined) return signal
  const requestedLabel = resolveClassification(call, requestedClassification)
  if (isRefusal(requestedLabel)) return requestedLabel
  return joinVisibleLabels(
    call,
    [requestedLabel, signal],
    'the joined label of the insight and its signal is above your clearance: lower the classification of the insight',
  )
}

async function answerRepeatedRequest(call: Call, id: string) {
  const before = await call.store(insights).get(id)
  if (before.value.request_digest === call.requestDigest()) return showInsight(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}

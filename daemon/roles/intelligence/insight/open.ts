// Opens an insight about a signal, which it names as what it began with and is linked to from the first.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { type Classification, classification, dominates, join, type Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import { uid } from '../fields.ts'
import { deedOf } from '../signal/change.ts'
import { signals } from '../signal/model.ts'
import { mergedAway } from '../signal/rules.ts'
import { insight, insightInput, insights, type StoredInsight } from './model.ts'
import { insightPaths } from './paths.ts'
import { opened } from './rules.ts'
import { shown } from './view.ts'

export const open = operation({
  ...insightPaths(),
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

  async run(call, { signal_id, classification: given, ...said }) {
    const { value: signal } = await call.store(signals).get(signal_id)
    const refused = mergedAway(signal)
    if (refused) return refused
    const label = labelWith(call, given, signal.label)
    if (isRefused(label)) return label
    const { tenant_id } = call.caller
    const deed = deedOf(call)
    const fresh: StoredInsight = {
      ...{ tenant_id, label, created_by: deed.by, created_at: deed.at, updated_at: deed.at },
      ...{ request_digest: call.requestDigest(), ...said, state: 'open' },
      entry_context: { type: 'signal', trigger: signal_id },
      ...{ links: [], editions: [], events: 0, pending: [], owes: 0 },
    }
    const steps = signal.metadata.status_history.length
    const value = opened(fresh, { signal_id, status: signal.status, steps }, deed)
    const id = call.newId('ins')
    const made = await call.store(insights).create(id, value, [call.audited(call.address, id, { signal_id }, label)])
    if (made === 'exists') return repeated(call, id)
    call.wake('relay')
    return shown(made)
  },
})

/** That of the signal, or a higher one that holds it. */
function labelWith(call: Call, given: Classification | undefined, signal: Label): Label | Refused {
  if (given === undefined) return signal
  const own = labelFor(call, given)
  if (isRefused(own)) return own
  const joined = join(own, signal, call.site.labels)
  if (joined && dominates(call.caller, joined, call.site.labels)) return joined
  return refuse('label_denied', 'the label of the insight and of its signal would leave it to nobody')
}

async function repeated(call: Call, id: string) {
  const before = await call.store(insights).get(id)
  if (before.value.request_digest === call.requestDigest()) return shown(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}

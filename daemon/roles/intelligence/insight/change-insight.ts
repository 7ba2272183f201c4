// Changes an insight by a pure rule: decides, stores with the audit record, wakes the relay for pending deliveries.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { signals } from '../signal/model.ts'
import { listReadableStatusSteps } from '../signal/rules.ts'
import { insights, type StoredInsight } from './model.ts'
import type { LinkedSignalStates } from './rules.ts'

type InsightRule = (current: StoredInsight) => StoredInsight | Refusal

/**
 * A rule that returns the same value makes no change. `action`: name of the audit record, for deliveries on behalf of
 * others. Throws the refusals of the store: not_found, not_your_tenant, precondition_failed.
 */
export async function changeInsight(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: InsightRule,
  action = call.address,
): Promise<Doc<StoredInsight> | Refusal> {
  const change = await updateInsight(call, uid, detail, rule, action)
  return isRefusal(change.answer) ? change.answer : change.doc
}

/** The same for a rule that needs the states of all linked signals. A merge that is undone at the same time takes effect later. */
export async function changeInsightWithSignals(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredInsight, signalStates: LinkedSignalStates) => StoredInsight | Refusal,
  action = call.address,
): Promise<Doc<StoredInsight> | Refusal> {
  let signalStates: LinkedSignalStates = new Map()
  const loadedRule = (current: StoredInsight) =>
    current.links.every(({ signal_id }) => signalStates.has(signal_id)) ? rule(current, signalStates) : 'not_loaded'
  for (;;) {
    const { doc, answer } = await updateInsight(call, uid, detail, loadedRule, action)
    if (answer !== 'not_loaded') return isRefusal(answer) ? answer : doc
    signalStates = await loadSignalStates(call, doc.value)
  }
}

async function updateInsight(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredInsight) => StoredInsight | Refusal | 'not_loaded',
  action = call.address,
) {
  const change = await call.store(insights).update<Refusal | 'not_loaded' | undefined>(uid, ({ value }) => {
    const next = rule(value)
    if (next === 'not_loaded' || isRefusal(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const auditDetail = { ...detail, from: value.state, to: next.state }
    const event = { ...call.audited(action, uid, auditDetail, value.label), tenant_id: value.tenant_id }
    return { next, answer: undefined, audit: [event] }
  })
  if (change.answer === undefined && change.doc.value.owes) call.wake('relay')
  return change
}

/** Viewers of the insight may see all of them: its label covers theirs. */
async function loadSignalStates(call: Call, { label, links }: StoredInsight): Promise<LinkedSignalStates> {
  const loaded = await Promise.all(links.map(({ signal_id }) => call.store(signals).get(signal_id)))
  return new Map(
    loaded.map(({ id, value }) => {
      const { status, merge } = value
      return [id, { status, merged_into: merge?.into, steps: listReadableStatusSteps(value, label, call.site.labels) }]
    }),
  )
}

// Changes a signal by a pure rule: decides, stores with the audit record, wakes the workers.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { recordChanges } from '../change-log/rules.ts'
import { signalTotal } from '../metrics.ts'
import { type StoredSignal, signals } from './model.ts'
import type { AttributedAction } from './rules.ts'

/**
 * A rule that returns the same value makes no change. `action`, `more_detail`: name and further details of the audit
 * record, for deliveries on behalf of another caller. Throws the refusals of the store: not_found, not_your_tenant,
 * precondition_failed.
 */
export async function changeSignal(
  call: Call,
  uid: string,
  rule: (current: StoredSignal) => StoredSignal | Refusal,
  action = call.address,
  more_detail: Readonly<Record<string, unknown>> = {},
): Promise<Doc<StoredSignal> | Refusal> {
  const { doc, answer } = await call
    .store(signals)
    .update<Refusal | 'same' | 'stepped' | 'changed'>(uid, ({ value }) => {
      const ruled = rule(value)
      if (isRefusal(ruled)) return { answer: ruled }
      if (ruled === value) return { answer: 'same' }
      const next = recordChanges(value, ruled, call.caller.subject)
      const detail = { from: value.status, to: next.status, links: next.links.length, ...more_detail }
      const event = { ...call.audited(action, uid, detail, value.label), tenant_id: value.tenant_id }
      return { next, answer: next.status === value.status ? 'changed' : 'stepped', audit: [event] }
    })
  if (isRefusal(answer)) return answer
  if (answer === 'stepped') call.count(signalTotal, { status: doc.value.status })
  if (answer !== 'same' && doc.value.owes) call.wake('relay')
  if (answer !== 'same' && doc.value.unlogged) call.wake('log')
  return doc
}

/** The caller, the current time and the reason. */
export function attributeAction(call: Call, rationale?: string): AttributedAction {
  return { by: call.caller.subject, at: call.nowIso(), ...(rationale === undefined ? {} : { rationale }) }
}

// Changes a match by a pure rule, and wakes the worker if clusters must change too.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityMatches, type StoredMatch } from './model.ts'

/**
 * A rule that returns the same value changes nothing. Throws `not_found`, `not_your_tenant` and `precondition_failed`
 * of the store.
 */
export async function changeMatch(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredMatch) => StoredMatch | Refusal,
): Promise<Doc<StoredMatch> | Refusal> {
  const { doc, answer } = await call.store(entityMatches).update<Refusal | undefined>(uid, ({ value }) => {
    const next = rule(value)
    if (isRefusal(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const event = { ...detail, from: value.state, to: next.state, decided_by: next.decided_by }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, event, value.label)] }
  })
  if (answer) return answer
  if (doc.value.owes) call.wake('recluster')
  return doc
}

// Changes a match by a pure rule, and has the clusters follow where the rule asks something else of them.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityMatches, type StoredMatch } from './model.ts'

/** The same value back is no change. Throws what the store refuses: not_found, not_your_tenant, precondition_failed. */
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
    const said = { ...detail, from: value.state, to: next.state, decided_by: next.decided_by }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, said, value.label)] }
  })
  if (answer) return answer
  if (doc.value.owes) call.wake('settle')
  return doc
}

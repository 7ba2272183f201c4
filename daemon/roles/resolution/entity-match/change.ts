// Changes a match by a pure rule, and has the clusters follow where the rule asks something else of them.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { entityMatches, type StoredMatch } from './model.ts'

/** The same value back is no change. Throws what the store refuses: not_found, not_your_tenant, precondition_failed. */
export async function changeMatch(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredMatch) => StoredMatch | Refused,
): Promise<Doc<StoredMatch> | Refused> {
  const { doc, answer } = await call.store(entityMatches).update<Refused | undefined>(uid, ({ value }) => {
    const next = rule(value)
    if (isRefused(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const said = { ...detail, from: value.state, to: next.state, decided_by: next.decided_by }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, said, value.label)] }
  })
  if (answer) return answer
  if (doc.value.owes) call.wake('settle')
  return doc
}

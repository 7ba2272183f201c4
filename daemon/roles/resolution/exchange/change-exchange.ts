// Changes an exchange by a pure rule, writes the audit record and announces the change.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { adoptEarlierExchange, exchanges, type StoredExchange } from './model.ts'

/**
 * Applies a rule and announces the exchange. A rule that returns the same value writes nothing. A new state is audited.
 */
export async function changeExchange(
  call: Call,
  id: string,
  action: string,
  rule: (current: StoredExchange) => StoredExchange | Refusal,
): Promise<Doc<StoredExchange> | Refusal> {
  const { doc, answer } = await call.store(exchanges).update<Refusal | undefined>(id, ({ value: stored }) => {
    const value = adoptEarlierExchange(stored) as StoredExchange
    const next = rule(value)
    if (isRefusal(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const hasMoved = next.state !== value.state || next.agreed.length !== value.agreed.length
    return { next, answer: undefined, audit: hasMoved ? [buildAuditEvent(call, id, action, value, next)] : [] }
  })
  if (answer) return answer
  announceJob(call, exchanges, doc)
  return doc
}

/** Builds the audit event of a change, for the tenant of the exchange. It contains no records and no secret. */
function buildAuditEvent(call: Call, id: string, action: string, before: StoredExchange, next: StoredExchange) {
  const { privacy, fields, learns, parties, linker, max_set_size } = next.agreement
  const terms = { privacy, fields, learns, parties, max_set_size, ...(linker === undefined ? {} : { linker }) }
  const detail = {
    from: before.state,
    to: next.state,
    agreed: next.agreed,
    sizes: next.sizes,
    terms,
    ...(next.failure ? { failure: next.failure } : {}),
  }
  return { ...call.audited(action, id, detail, next.label), tenant_id: next.tenant_id }
}

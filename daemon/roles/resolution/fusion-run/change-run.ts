// Changes a run by a pure rule, writes the audit record and announces the change.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { announceJob, jobTopic } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { runTotal } from '../metrics.ts'
import { adoptEarlierRun, fusionRuns, type StoredRun } from './model.ts'

export function runTopic(run: string): string {
  return jobTopic(fusionRuns, run)
}

/**
 * Applies a rule and announces the run. `stored`: as an earlier version may have stored it, without a job. A rule that returns the same value writes nothing. The audit record belongs to
 * the tenant of the run, also when another tenant's process changes it.
 */
export async function changeRun(
  call: Call,
  id: string,
  action: string,
  rule: (current: StoredRun, stored: StoredRun) => StoredRun | Refusal,
): Promise<Doc<StoredRun> | Refusal> {
  const { doc, answer } = await call.store(fusionRuns).update<Refusal | boolean>(id, ({ value: stored }) => {
    const value = adoptEarlierRun(stored) as StoredRun
    const next = rule(value, stored)
    if (isRefusal(next)) return { answer: next }
    if (next === value) return { answer: false }
    const detail = { from: value.state, to: next.state, ...describeOutcome(value, next) }
    const event = { ...call.audited(action, id, detail, next.label), tenant_id: next.tenant_id }
    return { next, answer: next.state !== value.state, audit: [event] }
  })
  if (isRefusal(answer)) return answer
  const hasEnteredState: boolean = answer
  if (hasEnteredState) call.count(runTotal, { state: doc.value.state })
  announceJob(call, fusionRuns, doc)
  return doc
}

/** What a record of the audit log has beside the states: why the run failed or was held, and who takes responsibility for a poor result. */
function describeOutcome(before: StoredRun, { failure, held, accept_poor }: StoredRun) {
  return {
    ...(failure ? { failure } : {}),
    ...(held && !before.held ? { held } : {}),
    ...(accept_poor && !before.accept_poor ? { accept_poor } : {}),
  }
}

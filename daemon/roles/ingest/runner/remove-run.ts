// Removes a run that is over with the logs of its tasks.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import { isRefusal, Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { signalFailure } from '../failure-report/signal-failure.ts'
import { dagRuns, type StoredDagRun } from './model.ts'
import { removeTaskLogs } from './task-log.ts'

/** Of a run that is over more writes may come: the marks that its metrics are recorded, and its failure is signalled. */
const max_attempts = 4

/** The logs go first: without their run nobody could find them. Throws `Refusal('unavailable')` while its failure cannot be signalled. */
export async function removeEndedRun(
  call: Call,
  doc: Doc<StoredDagRun>,
  audit: readonly AuditEvent[] = [],
): Promise<void> {
  const { id } = doc
  if (doc.value.unsignalled) await signalFailure(call, doc).catch(rethrowUnsignalled)
  await removeTaskLogs(call, id)
  for (let attempt = 1; ; attempt += 1)
    try {
      return await call.store(dagRuns).remove(id, audit)
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'conflict' || attempt === max_attempts) throw error
    }
}

/** A later request may succeed, whatever the other role has refused: the caller has no part in that. */
function rethrowUnsignalled(error: unknown): never {
  if (!isRefusal(error) || error.row.retryable) throw error
  throw new Refusal('unavailable', `the failure of the run cannot be signalled yet: ${error.message}`)
}

// Removes a run that is over with the logs of its tasks.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { dagRuns } from './model.ts'
import { removeTaskLogs } from './task-log.ts'

/** Of a run that is over one more write may come: the mark that its metrics are recorded. */
const max_attempts = 3

/** The logs go first: without their run nobody could find them. */
export async function removeEndedRun(call: Call, id: string, audit: readonly AuditEvent[] = []): Promise<void> {
  await removeTaskLogs(call, id)
  for (let attempt = 1; ; attempt += 1)
    try {
      return await call.store(dagRuns).remove(id, audit)
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'conflict' || attempt === max_attempts) throw error
    }
}

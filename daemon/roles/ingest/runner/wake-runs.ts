// Runs of a pipeline or effect that are not over, and what lets those that wait go on.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { wakeJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { dagRuns, type StoredDagRun } from './model.ts'

export function iterateActiveRuns(call: Call, pipeline: string) {
  const filter = { pipeline, state: { in: ['queued', 'running'] } }
  return iterateDocuments(call.store(dagRuns), { filter, fresh: true })
}

/** One whose step goes on meanwhile begins its next one at once. */
export async function wakeRuns(call: Call, pipeline: string, waits: (run: StoredDagRun) => boolean): Promise<void> {
  for await (const run of iterateActiveRuns(call, pipeline)) {
    if (!waits(run.value)) continue
    try {
      const { doc } = await call.store(dagRuns).update(run.id, ({ value }) => {
        const next = waits(value) ? wakeJob(value, call.now()) : value
        return next === value ? { answer: undefined } : { next, answer: undefined }
      })
      announceJob(call, dagRuns, doc)
    } catch (error) {
      // It was deleted meanwhile.
      if (!isRefusal(error) || error.code !== 'not_found') throw error
    }
  }
}

// Runs of a pipeline or effect that are not over, and what lets those that wait go on.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { wakeJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { dagRuns, type StoredDagRun } from './model.ts'

type RunTest = (run: Pick<Doc<StoredDagRun>, 'id' | 'value'>) => boolean

/** Without the parts of runs of another scheduler, which wait for its workers alone. */
export function iterateActiveRuns(call: Call, pipeline: string) {
  const filter = { ...filterActive(pipeline), part_of: { exists: false } }
  return iterateDocuments(call.store(dagRuns), { filter, fresh: true })
}

function filterActive(pipeline: string) {
  return { pipeline, state: { in: ['queued', 'running'] } }
}

export async function wakeRuns(call: Call, pipeline: string): Promise<void> {
  for await (const { id } of iterateActiveRuns(call, pipeline)) await wakeRun(call, id, () => true)
}

/** Wakes one alone: of many that wait for the same, only one could go on. */
export async function wakeOldestRun(call: Call, pipeline: string, waits: RunTest): Promise<void> {
  const order = { field: 'created_at', direction: 'asc' } as const
  const active = { filter: filterActive(pipeline), order, fresh: true, page_size: 20 }
  for await (const run of iterateDocuments(call.store(dagRuns), active))
    if (waits(run) && (await wakeRun(call, run.id, waits))) return
}

/** One whose step goes on meanwhile begins its next one at once. Returns whether it waits. */
async function wakeRun(call: Call, id: string, waits: RunTest): Promise<boolean> {
  try {
    const { doc, answer } = await call.store(dagRuns).update(id, ({ value }) => {
      if (!waits({ id, value })) return { answer: false }
      const next = wakeJob(value, call.now())
      return next === value ? { answer: false } : { next, answer: true }
    })
    announceJob(call, dagRuns, doc)
    return answer
  } catch (error) {
    // It was deleted meanwhile.
    if (!isRefusal(error) || error.code !== 'not_found') throw error
    return false
  }
}

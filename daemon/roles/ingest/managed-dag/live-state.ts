// The live state of a managed DAG: its newest run and its next one, read from the scheduler.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type CallerScheduler, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { ManagedDag } from './model.ts'

/** Objects of a list that are read from the scheduler at once. */
const reads_at_once = 8

export async function readLiveState(scheduler: CallerScheduler, { id, value }: Doc<ManagedDag>) {
  const { dag_id, status, is_paused } = value
  const ref = { dag_id, pipeline: id }
  const page = value.dag ? await scheduler.listRuns(ref, { limit: 1 }) : undefined
  const last_run = page === undefined || isRefusal(page) ? undefined : page.runs[0]
  const dag = value.dag ? await scheduler.findDag(ref) : undefined
  const isRunning = last_run?.state === 'running' || last_run?.state === 'queued'
  return {
    status: status !== 'active' ? status : is_paused ? ('paused' as const) : isRunning ? ('running' as const) : status,
    ...(value.fault ? { fault: value.fault } : {}),
    ...(last_run ? { last_run } : {}),
    ...(dag ? { workflow_next_run: dag.next_run } : {}),
  }
}
export type LiveState = Awaited<ReturnType<typeof readLiveState>>

/** Shows documents in their order, some at a time. */
export async function showEach<T, V>(
  call: Call,
  docs: readonly Doc<T>[],
  show: (scheduler: CallerScheduler, doc: Doc<T>) => Promise<V>,
): Promise<V[]> {
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const shown: V[] = []
  for (let at = 0; at < docs.length; at += reads_at_once)
    shown.push(...(await Promise.all(docs.slice(at, at + reads_at_once).map((doc) => show(scheduler, doc)))))
  return shown
}

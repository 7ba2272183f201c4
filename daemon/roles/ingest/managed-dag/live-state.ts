// The live state of a managed DAG: its newest run and its next one, read from the scheduler.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pickPinned } from '../runner/show-lineage.ts'
import { isLive, type ManagedDag } from './model.ts'

export async function readLiveState(call: Call, { id, value }: Doc<ManagedDag>) {
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const { dag_id, status, is_paused } = value
  const ref = { dag_id, pipeline: id }
  const page = isLive(value) ? await scheduler.listRuns(ref, { limit: 1 }) : undefined
  const last_run = page === undefined || isRefusal(page) ? undefined : page.runs[0]
  const dag = isLive(value) ? await scheduler.findDag(ref) : undefined
  const isRunning = last_run?.state === 'running' || last_run?.state === 'queued'
  return {
    status:
      status !== 'active'
        ? status
        : (dag?.is_paused ?? is_paused)
          ? ('paused' as const)
          : isRunning
            ? ('running' as const)
            : status,
    ...(value.fault ? { fault: value.fault } : {}),
    ...pickPinned(value),
    ...(value.proposal && status === 'pending_validation' ? { check: value.proposal } : {}),
    ...(value.auto_start ? { auto_start: value.auto_start } : {}),
    ...(last_run ? { last_run } : {}),
    ...(dag ? { workflow_next_run: dag.next_run } : {}),
  }
}
export type LiveState = Awaited<ReturnType<typeof readLiveState>>

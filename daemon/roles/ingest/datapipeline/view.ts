// Shows a pipeline with the live state of its DAG.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type CallerScheduler, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { PipelineView, StoredPipeline } from './model.ts'

/** Pipelines of a list that are read from the scheduler at once. */
const reads_at_once = 8

export async function showPipeline(call: Call, doc: Doc<StoredPipeline>): Promise<PipelineView> {
  return await showWith(call.part(workflowSchedulerPart).actFor(call), doc)
}

export async function showPipelines(call: Call, docs: readonly Doc<StoredPipeline>[]): Promise<PipelineView[]> {
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const shown: PipelineView[] = []
  for (let at = 0; at < docs.length; at += reads_at_once)
    shown.push(...(await Promise.all(docs.slice(at, at + reads_at_once).map((doc) => showWith(scheduler, doc)))))
  return shown
}

async function showWith(
  scheduler: CallerScheduler,
  { id, version, value }: Doc<StoredPipeline>,
): Promise<PipelineView> {
  const { dag_id, status, is_paused } = value
  const ref = { dag_id, pipeline: id }
  const page = value.dag ? await scheduler.listRuns(ref, { limit: 1 }) : undefined
  const last_run = page === undefined || isRefusal(page) ? undefined : page.runs[0]
  const dag = value.dag ? await scheduler.findDag(ref) : undefined
  const isRunning = last_run?.state === 'running' || last_run?.state === 'queued'
  const { tenant_id, label, created_by, created_at, updated_at, content, pipeline_type, run_on_deploy } = value
  return {
    ...{ uid: id, version, subtype: value.subtype, tenant_id, classification: label, created_by },
    ...{ create_ts: created_at, update_ts: updated_at, dag_id, content, pipeline_type, run_on_deploy },
    ...(value.description === undefined ? {} : { description: value.description }),
    status: status !== 'active' ? status : is_paused ? 'paused' : isRunning ? 'running' : 'active',
    ...(value.fault ? { fault: value.fault } : {}),
    ...(last_run ? { last_run } : {}),
    ...(dag ? { workflow_next_run: dag.next_run } : {}),
    ...showDelay(value),
  }
}

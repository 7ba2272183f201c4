// The first run of a deployment, once its DAG is live at the scheduler, which may find it some minutes after its deployment.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { AutoStart, ManagedDag } from './model.ts'

/** The interface document: 10 s for up to 200 s, then 24 tries with 15 s between them. */
const [look_ms, max_looks] = [10_000, 20]
const [try_ms, max_tries] = [15_000, 24]

export const firstAttempt: AutoStart = { phase: 'checking', attempts: 0 }

export type AttemptOutcome =
  | 'started'
  | { readonly wait: AutoStart; readonly wait_ms: number }
  | { readonly fault: string }

/**
 * Looks for the DAG, and triggers the run where the scheduler has it. A refusal of what the principal may not do is thrown; it
 * ends the deployment as any other does. Tokens are requested for this attempt alone, and stored nowhere.
 */
export async function attemptFirstRun(call: JobCall, doc: Doc<ManagedDag>, at: AutoStart): Promise<AttemptOutcome> {
  if (at.phase === 'triggering') return await attemptTrigger(call, doc, at)
  const problem = await findCheckProblem(call, doc)
  if (problem === undefined) return await attemptTrigger(call, doc, { phase: 'triggering', attempts: 0 })
  const attempts = at.attempts + 1
  if (attempts <= max_looks) return { wait: { phase: 'checking', attempts, reason: problem }, wait_ms: look_ms }
  return await attemptTrigger(call, doc, { phase: 'triggering', attempts: 0 })
}

async function findCheckProblem(
  call: JobCall,
  { id, value: { dag_id } }: Doc<ManagedDag>,
): Promise<string | undefined> {
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const dag = await orRefusal(scheduler.findDag({ dag_id, pipeline: id }))
  if (isRefusal(dag)) return reasonOfOutage(dag)
  return dag?.is_active ? undefined : 'the scheduler does not have the DAG yet'
}

async function attemptTrigger(
  call: JobCall,
  { id, value: { dag_id, deployments } }: Doc<ManagedDag>,
  at: AutoStart,
): Promise<AttemptOutcome> {
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  // The same id starts one run, so that an attempt whose answer was lost is repeated without harm.
  const trigger = { dag_run_id: `deploy__${deployments}`, conf: {} }
  const run = await orRefusal(scheduler.trigger({ dag_id, pipeline: id }, trigger))
  if (!isRefusal(run)) return 'started'
  const reason = run.code === 'not_found' ? run.message : reasonOfOutage(run)
  const attempts = at.attempts + 1
  if (attempts < max_tries) return { wait: { phase: 'triggering', attempts, reason }, wait_ms: try_ms }
  return { fault: `the first run was not triggered in ${max_tries} tries: ${reason}` }
}

async function orRefusal<T>(answer: Promise<T>): Promise<T | Refusal> {
  return await answer.catch((error: unknown) => {
    if (isRefusal(error)) return error
    throw error
  })
}

/** Throws what no wait cures. */
function reasonOfOutage(refusal: Refusal): string {
  if (!refusal.row.retryable) throw refusal
  return refusal.message
}

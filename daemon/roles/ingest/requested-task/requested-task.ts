// Tasks that another role of the site performs: requests of the job of the run, which holds no thread meanwhile.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { AssembledDag, DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import { findOperator } from '../operator/catalog.ts'
import { filedropSend } from '../operator/filedrop-send.ts'
import { notify } from '../operator/notify.ts'
import { resolveRun } from '../operator/resolve-run.ts'
import type { StoredDagRun } from '../runner/model.ts'
import { requestResolution } from './request-resolution.ts'
import { requestSignal } from './request-signal.ts'
import { sendDataset } from './send-dataset.ts'
import type { OpenRequest, RequestedTaskOutcome, RequestingRun, TaskRequest } from './task-request.ts'

/** By operator. */
const requests: Readonly<Record<string, TaskRequest>> = {
  [notify.name]: requestSignal,
  [resolveRun.name]: requestResolution,
  [filedropSend.name]: sendDataset,
}

/** Undefined for a task that is performed here, in a thread. */
export function findRequest({ operator }: DagTask): TaskRequest | undefined {
  return Object.hasOwn(requests, operator) ? requests[operator] : undefined
}

/** The role that an operator requests, if it requests one. */
function requestedRole({ operator }: DagTask): string | undefined {
  return findOperator(operator)?.requests
}

/**
 * One look at a task of another role. Where that does not answer, the job is put off, and its try goes on, until its time is over:
 * throws the refusal meanwhile.
 */
export async function performRequest(
  call: JobCall,
  request: TaskRequest,
  requesting: RequestingRun,
): Promise<RequestedTaskOutcome | OpenRequest> {
  const { run, task } = requesting
  const role = requestedRole(task) ?? ''
  if (!hasSiteRole(call, role)) return failRequest(describeAbsentRole(task, role), true)
  const isOver = triedFor_ms(call, run, task.name) >= task.time_limit_s * 1_000
  try {
    const outcome = await request(call, requesting)
    if (isRefusal(outcome)) return failRequest(outcome.message, true)
    if (!('waits' in outcome) || !isOver) return outcome
    return failRequest(`${outcome.waits}, which is not over within ${task.time_limit_s} seconds`, false)
  } catch (error) {
    if (isOver && isRefusal(error) && error.row.retryable)
      return failRequest(`no answer of the role ${role} within ${task.time_limit_s} seconds: ${error.message}`, false)
    throw error
  }
}

/** Time since the try of the task began. */
export function triedFor_ms(call: Pick<JobCall, 'now'>, { tasks }: StoredDagRun, name: string): number {
  return call.now() - Date.parse(tasks.find((task) => task.name === name)?.started_at ?? '')
}

function failRequest(reason: string, isFinal: boolean): RequestedTaskOutcome {
  return { log: `${reason}\n`, failure: { reason, isFinal } }
}

/** Why the tasks of a DAG that request other roles cannot be performed here; undefined where they can. */
export function findRequestFault(call: Call, { tasks }: AssembledDag): string | undefined {
  for (const task of tasks) {
    const role = requestedRole(task)
    if (role !== undefined && !hasSiteRole(call, role)) return describeAbsentRole(task, role)
  }
  return undefined
}

function describeAbsentRole({ name, operator }: DagTask, role: string): string {
  return `the task ${name} is of ${operator}, which requests the role ${role}: the site does not run it`
}

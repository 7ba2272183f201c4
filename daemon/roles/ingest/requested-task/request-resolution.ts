// Performs `resolve_run`: starts a run of the resolution role in the name of the person of the run, and looks at it until it is over.
import { type ErrorCode, isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import {
  type ResolutionRunStatus,
  readResolutionRun,
  startResolutionRun,
} from '../../../shared/resolution-run/resolution-run.ts'
import type { TaskDataset } from '../../../shared/task-dataset/task-dataset.ts'
import { nameNode, resolveRun } from '../operator/resolve-run.ts'
import type { OpenRequest, RequestedTaskOutcome, RequestingRun } from './task-request.ts'

export async function requestResolution(
  call: JobCall,
  requesting: RequestingRun,
): Promise<RequestedTaskOutcome | OpenRequest | Refusal> {
  const started = await startOnce(call, requesting)
  if (isRefusal(started)) return failRefused(requesting, started)
  const status = await readResolutionRun(call.delegation(), started.uid)
  return isRefusal(status) ? status : outcomeOf(started.uid, status)
}

/** Of another refusal, which comes of a defect, another try may see the end. */
const final_codes: ReadonlySet<ErrorCode> = new Set([
  'invalid',
  'not_found',
  'forbidden',
  'label_denied',
  'wrong_state',
])

function failRefused({ task }: RequestingRun, { code, message, errors }: Refusal): RequestedTaskOutcome {
  const { lens_id } = resolveRun.params.parse(task.params)
  const faults = errors.map((fault) => `; ${fault.path}: ${fault.message}`).join('')
  const reason = `a run by the lens ${lens_id} was refused: ${message}${faults}`
  return { log: `${reason}\n`, failure: { reason, isFinal: final_codes.has(code) } }
}

/** The run that an earlier look has started, or else a new one. */
async function startOnce(call: JobCall, requesting: RequestingRun): Promise<{ readonly uid: string } | Refusal> {
  const { id, run, task } = requesting
  const { requested } = run.tasks.find(({ name }) => name === task.name) ?? {}
  if (requested) return requested
  const { nodes: _nodes, ...terms } = resolveRun.params.parse(task.params)
  // A run that was deleted may have had the id.
  const key = `${id}.${Date.parse(run.created_at)}/${task.name}`
  const { originator: _originator, created: _created, ...classification } = run.label
  const node_data = nameNodes(requesting)
  return await startResolutionRun(call.delegation(), key, { ...terms, node_data, classification })
}

/** The datasets of the tasks before, by node. */
function nameNodes({ run: { dag_id, dag_run_id, tasks }, task }: RequestingRun): Record<string, TaskDataset> {
  const { nodes = {} } = resolveRun.params.parse(task.params)
  const makers = tasks.filter(({ name, dataset }) => dataset && task.after.includes(name))
  return Object.fromEntries(makers.map(({ name }) => [nameNode(nodes, name), { dag_id, dag_run_id, task: name }]))
}

function outcomeOf(uid: string, { state, held, failure, counts, progress }: ResolutionRunStatus) {
  const requested = { role: 'resolution', object: 'fusion_run', uid } as const
  const fail = (reason: string) => ({ log: `${reason}\n`, requested, failure: { reason, isFinal: true } })
  if (state === 'completed') {
    const { records = 0, matches = 0, entities = 0 } = counts
    return { log: `run ${uid}: ${records} records, ${matches} matches, ${entities} entities\n`, requested }
  }
  if (state === 'failed') return fail(`run ${uid} has failed: ${failure?.reason ?? 'it has no reason'}`)
  if (state === 'cancelled') return fail(`run ${uid} was cancelled`)
  if (held !== undefined) return fail(`run ${uid} is held (${held}): resolve it with accept_poor, or cancel it`)
  return { requested, waits: progress ? `run ${uid} is at ${progress.phase}: ${progress.step}` : `run ${uid}` }
}

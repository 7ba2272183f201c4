// The code that a run is triggered with: the live DAG, or that of the run which it repeats, at its commit in the DAG repository.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { dagFileName } from '../../../shared/dag-repository/dag-file-name.ts'
import { dagRepositoryPart } from '../../../shared/dag-repository/dag-repository.ts'
import type { RepeatedRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { refuseTakenConnection } from '../connection/claim-connection.ts'
import { refuseHttpPlaces } from '../http-target/find-http-target.ts'
import { checkDagText } from '../managed-dag/check-dag-text.ts'
import { kindOfObject } from '../managed-dag/collections.ts'
import { fileOf } from '../managed-dag/dag-file.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { findRequestFault } from '../requested-task/requested-task.ts'
import { dagRuns, runDocumentId, type StoredDagRun } from './model.ts'
import { pickPinned } from './show-lineage.ts'

export type RunCode = Pick<StoredDagRun, 'dag' | 'dag_digest' | 'commit' | 'catalog_version'>

/** Undefined where no DAG is live. Refuses a former run that is not there, and pinned code that cannot run any more. */
export async function findRunCode(
  call: Call,
  manager: Doc<ManagedDag>,
  repeats: RepeatedRun | undefined,
): Promise<RunCode | Refusal | undefined> {
  const { dag, dag_id, dag_digest } = manager.value
  if (!dag) return undefined
  const live = { dag, dag_digest, ...pickPinned(manager.value) }
  if (!repeats) return live
  const former = await call.store(dagRuns).find(runDocumentId(manager.id, repeats.dag_run_id))
  if (!former) return refuse('not_found', `the DAG ${dag_id} has no run ${repeats.dag_run_id}`)
  return repeats.code === 'latest' ? live : await readPinnedCode(call, manager, former)
}

async function readPinnedCode(
  call: Call,
  manager: Doc<ManagedDag>,
  { value: { dag_run_id, ...pinned } }: Doc<StoredDagRun>,
): Promise<RunCode | Refusal> {
  const { commit } = pinned
  const refusePinned = (reason: string) =>
    refuse('wrong_state', `the code of the run ${dag_run_id} cannot run again: ${reason}; run it with the latest code`)
  if (commit === undefined) return refusePinned('it has no commit, since an earlier release began it')
  const name = dagFileName(fileOf(manager), 'json')
  const file = await call.part(dagRepositoryPart).read(name, commit)
  if (!file) return refusePinned(`the DAG repository has no ${name} among the DAGs of the commit ${commit} any more`)
  const checked = checkDagText(file.text)
  if ('fault' in checked) {
    const { path, reason } = checked.fault
    return refusePinned(`the catalog of operators refuses it now: ${path === undefined ? '' : `${path}: `}${reason}`)
  }
  const refused = await findDeploymentFault(call, manager, checked.dag)
  if (refused !== undefined) return refusePinned(refused)
  return { dag: checked.dag, dag_digest: canonicalDigest(checked.dag), ...pickPinned(pinned) }
}

/** Why the DAG could not be made live now. */
async function findDeploymentFault(
  call: Call,
  { id, value }: Doc<ManagedDag>,
  dag: AssembledDag,
): Promise<string | undefined> {
  const fault = findRequestFault(call, dag) ?? refuseHttpPlaces(call, dag.tasks, value)?.message
  if (fault !== undefined || kindOfObject(id) === 'effect') return fault
  return (await refuseTakenConnection(call, { id, label: value.label }, dag))?.message
}

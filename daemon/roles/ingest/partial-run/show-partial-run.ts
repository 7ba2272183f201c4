// Adds to a run of another scheduler its label, which the site alone knows, and leaves out datasets that are not those of the run.
import type { Call } from '../../../kernel/operation/call.ts'
import type { WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { findManaged } from '../managed-dag/find-managed.ts'
import { dagRuns, runDocumentId } from '../runner/model.ts'

type ShownRun = WorkflowRun & { readonly tasks: readonly WorkflowTask[] }

/** While the site performs tasks of it. A worker may name any dataset: one of another place is left out. */
export async function showPartialRun(call: Call, run: ShownRun): Promise<ShownRun> {
  if (run.classification) return run
  const object = await findManaged(call, { dag_id: run.dag_id })
  const doc = object && (await call.store(dagRuns).find(runDocumentId(object.id, run.dag_run_id)))
  const { label: classification, worker_folder } = doc?.value ?? {}
  // Before the first request nobody knows its folder.
  if (!classification || !doc?.value.part_of || worker_folder === undefined) return run
  const tasks = run.tasks.map((task) => {
    const { lineage, ...others } = task
    const isOfRun = lineage?.dataset === undefined || lineage.dataset === `${worker_folder}/${task.task_id}`
    return isOfRun ? task : others
  })
  return { ...run, classification, tasks }
}

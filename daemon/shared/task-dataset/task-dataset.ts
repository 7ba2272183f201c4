// The dataset that a task of a run of a pipeline has made, as other roles name it and learn where it is.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Label, label } from '../../kernel/label/label.ts'
import { operationContract, type RoleClients } from '../../kernel/operation/operation-contract.ts'
import { dagId, taskName } from '../assembled-dag/assembled-dag.ts'
import { dagRunId } from '../workflow-scheduler/workflow-scheduler.ts'

export const taskDataset = z
  .strictObject({ dag_id: dagId, dag_run_id: dagRunId, task: taskName })
  .meta({ id: 'TaskDataset', description: 'The dataset that a task of a run of a pipeline has made' })
export type TaskDataset = z.infer<typeof taskDataset>

/** `digest`: SHA-256 of its description, by which it is the same dataset later. */
export type LandedTaskDataset = {
  readonly name: string
  readonly digest: string
  readonly label: Label
}

const dagRunStatus = operationContract({
  address: 'ingest.dag-run.status',
  input: z.strictObject({ dag_id: z.string(), dag_run_id: z.string() }),
  output: z.looseObject({
    classification: label.optional(),
    tasks: z.array(
      z.looseObject({
        task_id: z.string(),
        lineage: z.looseObject({ dataset: z.string().optional(), digest: z.string() }).optional(),
      }),
    ),
  }),
})

/** Finds it by the rights of `roles`: of those who may not see the run, it is not there. Refuses `not_found`. */
export async function findTaskDataset(
  { roles }: { readonly roles: RoleClients },
  { dag_id, dag_run_id, task }: TaskDataset,
): Promise<LandedTaskDataset | Refusal> {
  const run = await roles.request(dagRunStatus, { dag_id, dag_run_id })
  if (isRefusal(run)) return run
  const found = run.tasks.find(({ task_id }) => task_id === task)
  if (!found) return refuse('not_found', `the run ${dag_run_id} of ${dag_id} has no task ${task}`)
  const { dataset, digest } = found.lineage ?? {}
  // The result of a task of Airflow names a dataset of a worker, and its run has no label.
  if (dataset === undefined || digest === undefined || !run.classification)
    return refuse('not_found', `the task ${task} of the run ${dag_run_id} of ${dag_id} has no dataset at this site`)
  return { name: dataset, digest, label: run.classification }
}

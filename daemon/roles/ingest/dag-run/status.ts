// Shows the tasks of a run.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import {
  workflowRun,
  workflowSchedulerPart,
  workflowTask,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'
import { showPartialRun } from '../partial-run/show-partial-run.ts'
import { runKeyFields } from './run-fields.ts'

export const status = operation({
  ...objectPaths('dag/{dag_id}/run/{dag_run_id}/status'),
  summary: 'Show the state of a run and of each of its tasks',
  method: 'GET',
  tool: 'datapipeline_run_status',
  input: z.strictObject(runKeyFields),
  output: z.strictObject({ ...workflowRun.shape, tasks: z.array(workflowTask) }).meta({ id: 'WorkflowRunStatus' }),
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { dag_id, dag_run_id }) {
    const scheduler = call.part(workflowSchedulerPart).actFor(call)
    const run = await scheduler.findRun({ dag_id }, dag_run_id)
    if (!run) return refuse('not_found', `the DAG ${dag_id} has no run ${dag_run_id}`)
    const tasks = await scheduler.listTasks({ dag_id }, dag_run_id)
    if (isRefusal(tasks)) return tasks
    const shown = await showPartialRun(call, { ...run, tasks })
    return { ...shown, tasks: [...shown.tasks] }
  },
})

// Lists the runs of a DAG, newest first.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeListSchema } from '../../../kernel/operation/paging.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'
import { runListFields, showRunPage } from './run-fields.ts'

export const workflowRunList = wholeListSchema(workflowRun).meta({ id: 'WorkflowRunList' })

export const list = operation({
  ...objectPaths('dag/{dag_id}/run'),
  summary: 'List runs of a DAG, newest first',
  method: 'GET',
  tool: 'datapipeline_run_list',
  input: z.strictObject({ dag_id: dagId, ...runListFields }),
  output: workflowRunList,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { dag_id, state, limit }) {
    const runs = await call.part(workflowSchedulerPart).actFor(call).listRuns({ dag_id }, { state, limit })
    return isRefusal(runs) ? runs : showRunPage(runs)
  },
})

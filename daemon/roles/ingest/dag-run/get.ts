// Gets one run of a DAG.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'
import { runKeyFields } from './run-fields.ts'

export const get = operation({
  ...objectPaths('dag/{dag_id}/run/{dag_run_id}'),
  summary: 'Get one run of a DAG',
  method: 'GET',
  tool: 'datapipeline_run_get',
  input: z.strictObject(runKeyFields),
  output: workflowRun,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { dag_id, dag_run_id }) {
    const run = await call.part(workflowSchedulerPart).actFor(call).findRun({ dag_id }, dag_run_id)
    return run ?? refuse('not_found', `the DAG ${dag_id} has no run ${dag_run_id}`)
  },
})

// Triggers a run of a DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { instant } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { max_run_bytes, runConf, triggerManually } from './run-fields.ts'

export const trigger = operation({
  ...objectPaths('dag/{dag_id}/run'),
  summary: 'Trigger a run of a DAG',
  method: 'POST',
  tool: 'datapipeline_run_trigger',
  input: z.strictObject({
    dag_id: dagId,
    conf: runConf,
    logical_date: instant.optional().meta({ description: 'Time that the run is for; default: none' }),
  }),
  output: workflowRun,
  status: 201,
  errors: ['not_found', 'idempotency_mismatch'],
  allow: 'ingest:run',
  creates: true,
  max_body_bytes: max_run_bytes,

  async run(call, { dag_id, conf, logical_date }) {
    return await triggerManually(call, { dag_id }, { conf, ...(logical_date === undefined ? {} : { logical_date }) })
  },
})

// Triggers a run of a DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { instant } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { max_run_bytes, runInputFields, triggerManually } from './run-fields.ts'

export const trigger = operation({
  ...objectPaths('dag/{dag_id}/run'),
  summary: 'Trigger a run of a DAG, or run a former one again',
  method: 'POST',
  tool: 'datapipeline_run_trigger',
  input: z.strictObject({
    dag_id: dagId,
    ...runInputFields,
    logical_date: instant.optional().meta({ description: 'Time that the run is for; default: none' }),
  }),
  output: workflowRun,
  status: 201,
  errors: ['not_found', 'wrong_state', 'idempotency_mismatch'],
  allow: 'ingest:run',
  creates: true,
  max_body_bytes: max_run_bytes,

  run: async (call, { dag_id, ...request }) => await triggerManually(call, { dag_id }, request),
})

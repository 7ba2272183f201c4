// Triggers a run of a pipeline.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { newRunId, runConf } from '../dag-run/run-fields.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines } from './model.ts'

export const run = operation({
  ...objectPaths('datapipeline/{uid}/run'),
  summary: 'Trigger a run of a pipeline',
  method: 'POST',
  tool: 'datapipeline_run',
  input: z.strictObject({ ...uidInput.shape, conf: runConf }),
  output: workflowRun,
  status: 201,
  errors: ['not_found', 'idempotency_mismatch'],
  allow: 'ingest:run',
  creates: true,

  async run(call, { uid, conf }) {
    const { value } = await call.store(pipelines).get(uid)
    const scheduler = call.part(workflowSchedulerPart).actFor(call)
    return await scheduler.trigger(value.dag_id, { dag_run_id: newRunId(call), conf })
  },
})

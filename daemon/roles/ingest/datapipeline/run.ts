// Triggers a run of a pipeline.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { max_run_bytes, runConf, triggerManually } from '../dag-run/run-fields.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { openPipeline } from './open-pipeline.ts'

export const run = operation({
  ...objectPaths('datapipeline/{uid}/run'),
  summary: 'Trigger a run of a pipeline',
  method: 'POST',
  tool: 'datapipeline_run',
  input: z.strictObject({ ...uidInput.shape, conf: runConf }),
  output: workflowRun,
  status: 201,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'idempotency_mismatch'],
  allow: 'ingest:run',
  creates: true,
  max_body_bytes: max_run_bytes,

  async run(call, { uid, conf }) {
    const { value } = await openPipeline(call, uid)
    if (!value.dag) return refuse('wrong_state', `the pipeline is ${value.status}: its DAG is not live`)
    return await triggerManually(call, { dag_id: value.dag_id, pipeline: uid }, { conf })
  },
})

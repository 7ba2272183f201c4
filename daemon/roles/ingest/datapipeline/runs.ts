// Lists the runs of a pipeline, newest first.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowRunList } from '../dag-run/list.ts'
import { runListFields, showRunPage } from '../dag-run/run-fields.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines } from './model.ts'

export const runs = operation({
  ...objectPaths('datapipeline/{uid}/runs'),
  summary: 'List runs of a pipeline, newest first',
  method: 'GET',
  tool: 'datapipeline_runs',
  input: z.strictObject({ ...uidInput.shape, ...runListFields }),
  output: workflowRunList,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { uid, state, limit }) {
    const { value } = await call.store(pipelines).get(uid)
    const found = await call
      .part(workflowSchedulerPart)
      .actFor(call)
      .listRuns({ dag_id: value.dag_id, pipeline: uid }, { state, limit })
    return isRefusal(found) ? found : showRunPage(found)
  },
})

// Shows the state of a pipeline alone: its deployment, and its DAG at the scheduler.
import { operation } from '../../../kernel/operation/operation.ts'
import { scheduleViewFields } from '../datapipeline-schedule/model.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines, pipelineView } from './model.ts'
import { showPipeline } from './view.ts'

const pipelineState = pipelineView
  .pick({ uid: true, dag_id: true, status: true, fault: true, last_run: true, workflow_next_run: true, delay: true })
  .extend(scheduleViewFields)
  .meta({ id: 'DataPipelineStatus' })

export const status = operation({
  ...objectPaths('datapipeline/{uid}/status'),
  summary: 'Show the state of a pipeline: of its deployment, and live from the scheduler',
  method: 'GET',
  tool: 'datapipeline_status',
  input: uidInput,
  output: pipelineState,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { uid }) {
    const shown = await showPipeline(call, await call.store(pipelines).get(uid))
    return pipelineState.strip().parse(shown)
  },
})

// Gets the schedule of a pipeline.
import { operation } from '../../../kernel/operation/operation.ts'
import { pipelines } from '../datapipeline/model.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineScheduleView } from './model.ts'
import { showScheduleOf } from './view.ts'

export const get = operation({
  ...objectPaths('datapipeline/{uid}/schedule'),
  summary: 'Get the schedule of a pipeline: its next and its newest scheduled run, and why none is triggered',
  method: 'GET',
  tool: 'datapipeline_schedule_get',
  input: uidInput,
  output: pipelineScheduleView,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { uid }) {
    const { value } = await call.store(pipelines).get(uid)
    return await showScheduleOf(call, uid, value.dag_id)
  },
})

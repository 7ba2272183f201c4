// Sets the schedule of a pipeline, or ends it.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { pipelines } from '../datapipeline/model.ts'
import { uidInput } from '../fields.ts'
import { openManaged } from '../managed-dag/open-managed.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineScheduleView, scheduleInputFields } from './model.ts'
import { setSchedule } from './plan-schedule.ts'
import { showSchedule } from './view.ts'

export const set = operation({
  ...objectPaths('datapipeline/{uid}/schedule'),
  summary: 'Set the schedule of a pipeline, whose runs then act for you; without one, end it',
  method: 'PUT',
  tool: 'datapipeline_schedule_set',
  input: z.strictObject({ ...uidInput.shape, ...scheduleInputFields }),
  output: pipelineScheduleView,
  errors: ['not_found', 'not_your_tenant'],
  allow: 'ingest:write',

  async run(call, { uid, schedule = null, timezone }) {
    const doc = await setSchedule(call, await openManaged(call, pipelines, uid), { schedule, timezone })
    return isRefusal(doc) ? doc : showSchedule(doc)
  },
})

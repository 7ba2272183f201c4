// Lists scheduled pipelines.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineSchedules, pipelineScheduleView } from './model.ts'
import { showSchedule } from './view.ts'

export const list = operation({
  ...objectPaths('datapipeline/schedule'),
  summary: 'List scheduled pipelines, newest schedule first',
  method: 'GET',
  tool: 'datapipeline_schedule_list',
  input: z.strictObject({
    ...listFields,
    due_only: z.boolean().default(false).meta({ description: 'Those alone whose next run is due now' }),
  }),
  output: pageSchema(pipelineScheduleView).meta({ id: 'DataPipelineSchedulePage' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { limit, cursor, due_only }) {
    const isDue = due_only ? { next_ts: { lte: call.now() } } : {}
    const filter = { object: 'datapipeline', schedule: { exists: true }, ...isDue }
    const order = { field: 'created_at', direction: 'desc' } as const
    const query = { filter, order, limit, ...(cursor === undefined ? {} : { cursor }) }
    const { docs, ...page } = await call.store(pipelineSchedules).page(query)
    return { ...page, items: docs.map(showSchedule) }
  },
})

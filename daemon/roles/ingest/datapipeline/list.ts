// Lists the pipelines of the caller's tenant with the live state of their DAGs.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines, pipelineView } from './model.ts'
import { showPipelines } from './view.ts'

export const list = operation({
  ...objectPaths('datapipeline'),
  summary: 'List pipelines, newest first, each with its live state',
  method: 'GET',
  tool: 'datapipeline_list',
  input: z.strictObject(listFields),
  output: pageSchema(pipelineView).meta({ id: 'DataPipelinePage' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { limit, cursor }) {
    const order = { field: 'created_at', direction: 'desc' } as const
    const { docs, ...page } = await call.store(pipelines).page(buildListQuery({}, limit, cursor, order))
    return { ...page, items: await showPipelines(call, docs) }
  },
})

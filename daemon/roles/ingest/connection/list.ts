// Lists the connections of the caller's tenant.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { connections, connectionView, showConnection } from './model.ts'

export const list = operation({
  ...objectPaths('connection'),
  summary: 'List connections, newest first',
  method: 'GET',
  tool: 'connection_list',
  input: z.strictObject(listFields),
  output: pageSchema(connectionView).meta({ id: 'DataPipelineConnectionPage' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { limit, cursor }) {
    const order = { field: 'created_at', direction: 'desc' } as const
    const { docs, ...page } = await call.store(connections).page(buildListQuery({}, limit, cursor, order))
    return { ...page, items: docs.map(showConnection) }
  },
})

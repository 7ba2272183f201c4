// Lists the connections of the caller's tenant.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { showNewest } from '../newest-page.ts'
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

  run: async (call, request) => await showNewest(call, connections, request, showConnection),
})

// Lists the bulk dispositions of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { bulk, bulkState, bulks } from './model.ts'
import { showBulkInList } from './view.ts'

export const list = operation({
  ...objectPaths('signal-bulk'),
  summary: 'List bulk dispositions, newest first',
  method: 'GET',
  tool: 'signal_bulk_list',
  input: z.strictObject({ ...listFields, state: bulkState.optional() }),
  output: pageSchema(bulk).meta({ id: 'BulkPage' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, cursor, state }) {
    const query = buildListQuery({ state }, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(bulks).page(query)
    return { items: docs.map(showBulkInList), ...counted }
  },
})

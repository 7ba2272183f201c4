// Lists files of records that arrived in folders, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { shortText } from '../fields.ts'
import { arrivalFileState, arrivalFiles, arrivalFileView, showArrivalFile } from './model.ts'

export const list = operation({
  summary: 'List files of records that arrived in folders, newest first',
  method: 'GET',
  path: '/api/v2/arrival_file',
  input: z.strictObject({ ...listFields, folder: shortText.optional(), state: arrivalFileState.optional() }),
  output: pageSchema(arrivalFileView).meta({ id: 'ArrivalFilePage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, ...fields }) {
    const query = buildListQuery(fields, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(arrivalFiles).page(query)
    return { items: docs.map(showArrivalFile), ...counted }
  },
})

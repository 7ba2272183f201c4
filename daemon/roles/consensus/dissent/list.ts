// Lists the dissent records of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { dissentStatus, dissents, machineDissent } from '../session/dissent/model.ts'
import { showDissent } from './view.ts'

export const list = operation({
  summary: 'List dissent records',
  method: 'GET',
  path: '/api/v2/dissent',
  tool: 'dissent_list',
  input: z.strictObject({
    ...listFields,
    session_id: z.string().max(128).optional(),
    lens_id: z.string().max(256).optional(),
    status: dissentStatus.optional(),
  }),
  output: pageSchema(machineDissent).meta({ id: 'MachineDissentPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(dissents).list(query)
    return { items: docs.map(showDissent), ...next }
  },
})

// Lists the nodes of the caller's coalition by name, lost ones included.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { node, nodes } from './model.ts'
import { showNode } from './view.ts'

export const list = operation({
  summary: 'List the nodes of the coalition',
  method: 'GET',
  path: '/api/v2/hub/node',
  input: z.strictObject(listFields),
  output: pageSchema(node).meta({ id: 'CoalitionNodePage' }),
  errors: [],
  allow: 'hub:read',

  async run(call, { limit, cursor }) {
    const { docs, ...counted } = await call.store(nodes).page(buildListQuery({}, limit, cursor))
    return { items: docs.map((doc) => showNode(call, doc)), ...counted }
  },
})

// The nodes of the caller's coalition, by name, with those that are lost.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { node, nodes } from './model.ts'
import { shown } from './view.ts'

export const list = operation({
  summary: 'List the nodes of the coalition',
  method: 'GET',
  path: '/api/v2/hub/node',
  input: z.strictObject(listFields),
  output: pageOf(node).meta({ id: 'CoalitionNodePage' }),
  errors: [],
  allow: 'hub:read',

  async run(call, { limit, cursor }) {
    const { docs, ...next } = await call.store(nodes).list(queryOf({}, limit, cursor))
    return { items: docs.map((doc) => shown(call, doc)), ...next }
  },
})

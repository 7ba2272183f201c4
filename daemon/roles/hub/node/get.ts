// Gets one node of the caller's coalition.
import { operation } from '../../../kernel/operation/operation.ts'
import { idInput, node, nodes } from './model.ts'
import { showNode } from './view.ts'

export const get = operation({
  summary: 'Get a node of the coalition',
  method: 'GET',
  path: '/api/v2/hub/node/{id}',
  input: idInput,
  output: node,
  errors: ['not_found'],
  allow: 'hub:read',

  run: async (call, { id }) => showNode(call, await call.store(nodes).get(id)),
})

// Records a node's heartbeat. Not audited: only the time of last contact changes.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { checkOwnNode } from './load-own-node.ts'
import { idInput, node, nodes } from './model.ts'
import { recordContact } from './rules.ts'
import { showNode } from './view.ts'

export const heartbeat = operation({
  summary: 'Record a heartbeat of a node',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/heartbeat',
  input: idInput,
  output: node,
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id }) {
    const refusal = checkOwnNode(call, id)
    if (isRefusal(refusal)) return refusal
    const { doc } = await call
      .store(nodes)
      .update(id, ({ value }) => ({ next: recordContact(value, call.now()), answer: undefined }))
    return showNode(call, doc)
  },
})

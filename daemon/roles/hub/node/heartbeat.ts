// A node says that it is there. Not audited: it changes nothing but the time at which it was heard of.
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { mayBe } from './acting.ts'
import { idInput, node, nodes } from './model.ts'
import { heardOf } from './rules.ts'
import { shown } from './view.ts'

export const heartbeat = operation({
  summary: 'Say that a node is there',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/heartbeat',
  input: idInput,
  output: node,
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id }) {
    const refused = mayBe(call, id)
    if (isRefused(refused)) return refused
    const { doc } = await call
      .store(nodes)
      .update(id, ({ value }) => ({ next: heardOf(value, call.now()), answer: undefined }))
    return shown(call, doc)
  },
})

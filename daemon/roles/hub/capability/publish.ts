// A node tells the others what it offers; its newest word stands.
import { canonical } from '../../../kernel/canonical.ts'
import { capabilityMessage } from '../../../kernel/coalition.ts'
import { operation } from '../../../kernel/operation.ts'
import { siteName } from '../../../kernel/transport.ts'
import { mayBe } from '../node/acting.ts'
import { node, nodes } from '../node/model.ts'
import { heardOf } from '../node/rules.ts'
import { shown } from '../node/view.ts'

export const publish = operation({
  summary: 'Publish the capability message of a node',
  method: 'PUT',
  path: '/api/v2/hub/node/{id}/capability',
  input: capabilityMessage.extend({ id: siteName }),
  output: node,
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id, ...message }) {
    const refused = mayBe(call, id)
    if (refused) return refused
    const audit = [call.audited('hub.capability.publish', id, message)]
    const { doc } = await call.store(nodes).update(id, ({ value }) => {
      const isSame = value.capability !== undefined && canonical(value.capability.message) === canonical(message)
      if (isSame) return { next: heardOf(value, call.now()), answer: undefined }
      const next = { ...heardOf(value, call.now()), capability: { message, at: call.nowIso() } }
      return { next, answer: undefined, audit }
    })
    return shown(call, doc)
  },
})

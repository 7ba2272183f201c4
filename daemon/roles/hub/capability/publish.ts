// Publishes a node's capabilities to the other nodes; the newest message replaces the one before.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { capabilityMessage } from '../../../shared/coalition/hub-protocol.ts'
import { checkOwnNode } from '../node/load-own-node.ts'
import { node, nodes } from '../node/model.ts'
import { recordContact } from '../node/rules.ts'
import { showNode } from '../node/view.ts'

export const publish = operation({
  summary: 'Publish the capability message of a node',
  method: 'PUT',
  path: '/api/v2/hub/node/{id}/capability',
  input: capabilityMessage.extend({ id: siteName }),
  output: node,
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id, ...message }) {
    const refused = checkOwnNode(call, id)
    if (refused) return refused
    const audit = [call.audited('hub.capability.publish', id, message)]
    const { doc } = await call.store(nodes).update(id, ({ value }) => {
      const isSame =
        value.capability !== undefined && canonicalJson(value.capability.message) === canonicalJson(message)
      if (isSame) return { next: recordContact(value, call.now()), answer: undefined }
      const next = { ...recordContact(value, call.now()), capability: { message, at: call.nowIso() } }
      return { next, answer: undefined, audit }
    })
    return showNode(call, doc)
  },
})

// A site joins the coalition as a mission service node; the same again changes nothing but that it was heard of.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { siteName } from '../../../kernel/messaging/transport.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { nodeRegistration } from '../../../shared/coalition/hub-protocol.ts'
import { settings } from '../settings.ts'
import { checkOwnNode } from './load-own-node.ts'
import { node, nodes, type StoredNode } from './model.ts'
import { registerAgain } from './rules.ts'
import { showNode } from './view.ts'

const registerResponse = z
  .strictObject({ node, heartbeat_s: z.int().meta({ description: 'How often the node is to be heard of' }) })
  .meta({ id: 'Registered' })

export const register = operation({
  summary: 'Register a node of the coalition',
  method: 'PUT',
  path: '/api/v2/hub/node/{id}',
  input: nodeRegistration.extend({ id: siteName }),
  output: registerResponse,
  errors: [],
  allow: 'hub:node',

  async run(call, { id, ...given }) {
    const refused = checkOwnNode(call, id)
    if (refused) return refused
    const { heartbeat_s } = call.settings(settings)
    const audit = [call.audited('hub.node.register', id, { site: given.site, node_tenant_id: given.node_tenant_id })]
    const { tenant_id } = call.caller
    const first: StoredNode = { tenant_id, ...given, registered_at: call.nowIso(), heard_ts: call.now() }
    const made = await call.store(nodes).create(id, first, audit)
    if (made !== 'exists') return { node: showNode(call, made), heartbeat_s }
    const { doc } = await call.store(nodes).update(id, ({ value }) => {
      const next = registerAgain(value, given, call.now())
      const isSame = canonicalJson({ ...next, heard_ts: 0 }) === canonicalJson({ ...value, heard_ts: 0 })
      return { next, answer: undefined, ...(isSame ? {} : { audit }) }
    })
    return { node: showNode(call, doc), heartbeat_s }
  },
})

// Registers a site with the coalition as a mission service node; a repeat changes only the time of last contact.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { nodeRegistration } from '../../../shared/coalition/hub-protocol.ts'
import { settings } from '../settings.ts'
import { checkOwnNode } from './load-own-node.ts'
import { node, nodes, type StoredNode } from './model.ts'
import { registerAgain } from './rules.ts'
import { showNode } from './view.ts'

const registerResponse = z
  .strictObject({
    node,
    heartbeat_s: z.int().meta({ description: 'Interval at which the node is to send heartbeats' }),
  })
  .meta({ id: 'Registered' })

export const register = operation({
  summary: 'Register a node of the coalition',
  method: 'PUT',
  path: '/api/v2/hub/node/{id}',
  input: nodeRegistration.extend({ id: siteName }),
  output: registerResponse,
  errors: [],
  allow: 'hub:node',

  async run(call, { id, ...registration }) {
    const refusal = checkOwnNode(call, id)
    if (refusal) return refusal
    if (registration.site !== id) {
      const message = `must be the enrolled name of the node, ${id}`
      return refuse('invalid', 'a node can register its own site only', [{ path: 'site', message }])
    }
    const { heartbeat_s } = call.settings(settings)
    const audit = [
      call.audited('hub.node.register', id, { site: registration.site, node_tenant_id: registration.node_tenant_id }),
    ]
    const { tenant_id } = call.caller
    const first: StoredNode = { tenant_id, ...registration, registered_at: call.nowIso(), heard_ts: call.now() }
    const outcome = await call.store(nodes).create(id, first, audit)
    if (outcome !== 'exists') return { node: showNode(call, outcome), heartbeat_s }
    const { doc } = await call.store(nodes).update(id, ({ value }) => {
      const next = registerAgain(value, registration, call.now())
      const isSame = canonicalJson({ ...next, heard_ts: 0 }) === canonicalJson({ ...value, heard_ts: 0 })
      return { next, answer: undefined, ...(isSame ? {} : { audit }) }
    })
    return { node: showNode(call, doc), heartbeat_s }
  },
})

// Loads the node of a call: it must be the caller's own, and registered.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { settings } from '../settings.ts'
import { nodes, type StoredNode } from './model.ts'
import { checkNodeIdentity } from './rules.ts'

/** Refuses a caller that is not enrolled as the node. Throws `Refusal('not_found')` for a node that has not registered. */
export async function loadOwnNode(call: Call, id: string): Promise<Doc<StoredNode> | Refusal> {
  const refusal = checkOwnNode(call, id)
  return isRefusal(refusal) ? refusal : await call.store(nodes).get(id)
}

export function checkOwnNode(call: Call, id: string): Refusal | undefined {
  return checkNodeIdentity(id, call.settings(settings).nodes, call.caller, call.site.tenant_id)
}

// The node that a call acts as: it must be the caller's own, and have registered.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { settings } from '../settings.ts'
import { nodes, type StoredNode } from './model.ts'
import { mayActAs } from './rules.ts'

/** Refuses `forbidden`; throws `Refused('not_found')` for a node that has not registered. */
export async function ownNode(call: Call, id: string): Promise<Doc<StoredNode> | Refused> {
  const refused = mayBe(call, id)
  return isRefused(refused) ? refused : await call.store(nodes).get(id)
}

export function mayBe(call: Call, id: string): Refused | undefined {
  return mayActAs(id, call.settings(settings).nodes, call.caller, call.site.tenant_id)
}

// Who may act as a node, and when one counts as lost.
import type { NodeRegistration } from '../../../kernel/coalition.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Caller } from '../../../kernel/identity.ts'
import type { NodeState, StoredNode } from './model.ts'

export type Enrolled = { readonly subject: string; readonly tenant_id?: string | undefined }

/** Undefined when the caller is the node. `home`: the hub site's own tenant. */
export function mayActAs(
  id: string,
  enrolled: Readonly<Record<string, Enrolled>>,
  caller: Pick<Caller, 'subject' | 'tenant_id'>,
  home: string,
): Refused | undefined {
  const found = Object.hasOwn(enrolled, id) ? enrolled[id] : undefined
  // The same words whether the name is enrolled or not: a stranger learns no names.
  const isNode = found?.subject === caller.subject && (found.tenant_id ?? home) === caller.tenant_id
  return isNode ? undefined : refuse('forbidden', 'the caller is not enrolled as this node')
}

/** The node after it registered once more; what others were told of its capabilities stays. */
export function registeredAgain(current: StoredNode, given: NodeRegistration, now: number): StoredNode {
  return heardOf({ ...current, ...given }, now)
}

/** A clock that was set back makes nobody lost. */
export function heardOf(current: StoredNode, now: number): StoredNode {
  return { ...current, heard_ts: Math.max(current.heard_ts, now) }
}

/** `silence_ms`: how long a node may be silent and still counts as present. */
export function stateOf(heard_ts: number, now: number, silence_ms: number): NodeState {
  return now - heard_ts > silence_ms ? 'lost' : 'present'
}

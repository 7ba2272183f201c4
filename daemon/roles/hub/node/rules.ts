// Decides whether a caller may act as a node, and when a node counts as lost.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Caller } from '../../../kernel/identity/identity.ts'
import type { NodeRegistration } from '../../../shared/coalition/hub-protocol.ts'
import type { NodeState, StoredNode } from './model.ts'

export type EnrolledNode = { readonly subject: string; readonly tenant_id?: string | undefined }

/** Undefined when the caller is the node. `hub_tenant_id`: the hub site's own tenant. */
export function checkNodeIdentity(
  id: string,
  enrolled: Readonly<Record<string, EnrolledNode>>,
  caller: Pick<Caller, 'subject' | 'tenant_id'>,
  hub_tenant_id: string,
): Refusal | undefined {
  const enrolment = Object.hasOwn(enrolled, id) ? enrolled[id] : undefined
  // One message whether the name is enrolled or not, so that a caller cannot probe for names.
  const isNode = enrolment?.subject === caller.subject && (enrolment.tenant_id ?? hub_tenant_id) === caller.tenant_id
  return isNode ? undefined : refuse('forbidden', 'the caller is not enrolled as this node')
}

/** The node after a repeated registration; its published capabilities stay. */
export function registerAgain(current: StoredNode, registration: NodeRegistration, now: number): StoredNode {
  return recordContact({ ...current, ...registration }, now)
}

/** Records a contact. A clock that was set back does not lower the last contact. */
export function recordContact(current: StoredNode, now: number): StoredNode {
  return { ...current, heard_ts: Math.max(current.heard_ts, now) }
}

/** `silence_ms`: how long a node may be silent and still counts as present. */
export function nodeStateAt(heard_ts: number, now: number, silence_ms: number): NodeState {
  return now - heard_ts > silence_ms ? 'lost' : 'present'
}

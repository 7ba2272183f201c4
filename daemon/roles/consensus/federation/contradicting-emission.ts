// A peer that proves one decision of its session and emits another has lied once: the proven one stands, with an alarm,
// whichever of both arrives first.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { StoredEmission } from '../emission/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import type { StoredSession } from '../session/model.ts'

type DecisionReference = Pick<StoredEmission, 'decision' | 'evidence_block_id'>
type ProvenSession = Pick<StoredSession, 'id' | 'tenant_id' | 'label' | 'decision' | 'evidence_block_id'>

/**
 * `proven`: a session that evidence has ratified. The ids of the blocks may differ: an origin names its newest block, and
 * sends some peers one of version 1.
 */
export function isContradicted(
  emitted: Pick<DecisionReference, 'decision'>,
  proven: Pick<ProvenSession, 'decision'>,
): boolean {
  return emitted.decision !== proven.decision
}

/** `msg_id`: of the emission. */
export function contradictionEvent(
  call: Call,
  proven: ProvenSession,
  { peer, msg_id, decision: emitted }: { peer: string; msg_id: string } & DecisionReference,
): AuditEvent {
  const { decision, evidence_block_id } = proven
  const detail = { peer, msg_id, proven: { decision, evidence_block_id }, emitted }
  return { ...lifecycleEvent(call, contradicted, proven, detail), outcome: 'refused' }
}

export function logContradiction(
  call: Call,
  session: string,
  { peer, msg_id }: { peer: string; msg_id: string },
): void {
  call.log.error(contradicted, { trace_id: call.trace.trace_id, session, peer, msg_id })
}

const contradicted = 'consensus.federation.emission_contradicts'

// What becomes of the copy of a session after a result of its origin: followed when it holds, in conflict when it is false.

import type { InvalidResult, StoredSession } from '../session/model.ts'
import { closeDissent, enterState } from '../session/transition/rules.ts'
import type { SessionOutcome } from './session-outcome.ts'

/** Refused results that a session lists. */
const max_listed = 8

/** The copy after the outcome; `current` itself when it has this outcome already, or is withdrawn. */
export function followOrigin(
  current: StoredSession,
  { evidence, dissent, retraction }: SessionOutcome,
  peer: string,
  at: string,
): StoredSession {
  const by = `peer:${peer}`
  if (current.state === 'WITHDRAWN') return current
  if (retraction) return enterState(closeDissent(current, 'withdrawn', at), 'WITHDRAWN', 'result', by, at)
  if (evidence) {
    if (current.evidence_block_id === evidence.block_id) return current
    const { result: combined, decision, attestation } = evidence.content
    const { reason: _settled, ...rest } = closeDissent(current, attestation ? 'attested' : 'ratified', at)
    const ratified = { ...rest, result: combined, decision, evidence_block_id: evidence.block_id }
    return enterState(ratified, 'RATIFIED', 'result', by, at)
  }
  if (!dissent || current.open_dissent_id === dissent.id || current.state === 'RATIFIED') return current
  const contested = {
    ...closeDissent(current, 'superseded', at),
    reason: dissent.body.reason,
    open_dissent_id: dissent.id,
    updated_at: at,
  }
  return current.state === 'IN_CONFLICT' ? contested : enterState(contested, 'IN_CONFLICT', 'result', by, at)
}

/**
 * The copy after a result that fails the checks of this site: in conflict, with the faults, until a valid result arrives. A
 * session that is ratified or withdrawn stays so, and lists the faults as well. `current` itself for a repeat.
 */
export function recordInvalidResult(current: StoredSession, invalid: InvalidResult, peer: string): StoredSession {
  const { at, msg_id } = invalid
  const listed = current.invalid_results ?? []
  if (listed.some((each) => each.msg_id === msg_id)) return current
  const invalid_results = [...listed, invalid].slice(-max_listed)
  const recorded = { ...current, invalid_results, updated_at: at }
  if (current.state === 'RATIFIED' || current.state === 'WITHDRAWN') return recorded
  const contested = { ...recorded, reason: 'invalid_result' as const }
  return current.state === 'IN_CONFLICT'
    ? contested
    : enterState(contested, 'IN_CONFLICT', 'result', `peer:${peer}`, at)
}

// Which match of this site a peer's decision is about, and the ruling that it becomes.
import type { PeerDecision } from '../../../shared/peer-decision/peer-decision.ts'
import { type MatchRuling, matchUid } from '../entity-match/model.ts'
import type { RecordRef } from '../fields.ts'

/**
 * The ids that the match can have here: the one that the peer names, and the one that the two records have in this lens.
 * Empty for a decision about anything but a match.
 */
export function listMatchIds({ tenant_id, subject }: PeerDecision, lens: string): string[] {
  if (subject?.kind !== 'entity_match') return []
  const [left, right] = [parseRecordName(subject.left), parseRecordName(subject.right)]
  const own = left && right ? [matchUid(tenant_id, lens, left, right)] : []
  return [...(subject.correlation_id === undefined ? [] : [subject.correlation_id]), ...own]
}

/** `node/record`; names of nodes contain no slash. */
function parseRecordName(name: string): RecordRef | undefined {
  const slash = name.indexOf('/')
  if (slash <= 0 || slash === name.length - 1) return undefined
  return { node_id: name.slice(0, slash), record_id: name.slice(slash + 1) }
}

export function rulingOfPeer({ id, origin, status, ...decided }: PeerDecision): MatchRuling {
  const { seq, at, decision, score, attested, evidence_block_id } = decided
  return {
    ...{ session_id: id, peer: origin, seq, at, decision, score, attested },
    status: status === 'standing' ? 'ratified' : 'retracted',
    ...(evidence_block_id === undefined ? {} : { evidence_block_id }),
  }
}

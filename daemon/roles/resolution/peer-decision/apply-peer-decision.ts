// Applies a peer's decision to the match that it is about, if that match is in the lens of the rule and may show it.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { PeerDecision } from '../../../shared/peer-decision/peer-decision.ts'
import { changeMatch } from '../entity-match/change-match.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { applyRuling } from '../entity-match/rules.ts'
import { listMatchIds, rulingOfPeer } from './ruling-of-peer.ts'

/** A decision about a match that this site does not have, or that a label forbids, changes nothing. */
export async function applyPeerDecision(call: Call, lens: string, decision: PeerDecision): Promise<void> {
  const uid = await findMatch(call, lens, decision)
  if (uid === undefined) return
  const ruling = rulingOfPeer(decision)
  const detail = { peer: decision.origin, session_id: decision.id, decision: decision.decision, status: ruling.status }
  const changed = await changeMatch(call, uid, detail, (current) => {
    const refusal = checkMatch(call, current, lens, decision)
    return refusal ?? applyRuling(current, ruling)
  })
  if (isRefusal(changed)) {
    const { trace_id } = call.trace
    call.log.warn('resolution.peer-decision.refused', { trace_id, match: uid, code: changed.code, ...detail })
  }
}

async function findMatch(call: Call, lens: string, decision: PeerDecision): Promise<string | undefined> {
  for (const uid of listMatchIds(decision, lens)) {
    const found = await call.store(entityMatches).find(uid)
    if (found && isOfRule(found.value, lens, decision)) return uid
  }
  return undefined
}

function isOfRule(match: StoredMatch, lens: string, { tenant_id }: PeerDecision): boolean {
  return match.lens === lens && match.tenant_id === tenant_id
}

/** Viewers of the match see its rulings, so they must be permitted to see the decision. */
function checkMatch(call: Call, match: StoredMatch, lens: string, decision: PeerDecision): Refusal | undefined {
  if (!isOfRule(match, lens, decision)) return refuse('not_your_tenant', 'the match belongs to another tenant or lens')
  if (isCoveredBy(decision.classification, match.label, call.site.labels)) return undefined
  return refuse('label_denied', 'the label of the decision is not covered by that of the match')
}

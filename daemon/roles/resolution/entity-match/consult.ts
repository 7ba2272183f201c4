// Requests a consensus session for one match with any score.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { readSessionEnd } from '../../../shared/match-session/match-session.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { consultation } from './consultation.ts'
import { entityMatches, type MatchRuling, matchView, type StoredMatch, showMatch } from './model.ts'
import { applyRuling, findOpenRuling, mayOpenSession } from './rules.ts'

export const consult = matchingOperation({
  summary: 'Open a consensus session to decide a match; the rulings of the match name the session',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/consult',
  tool: 'entity_match_consult',
  input: z.strictObject({ correlation_id: uid, ...consultation.shape }),
  output: matchView,
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:review',
  versioned: true,

  async run(call, { correlation_id, ...requested }) {
    if (!runsConsensus(call)) return refuse('wrong_state', consensusRemedy)
    const before = await learnSessionEnd(call, await call.store(entityMatches).find(correlation_id))
    if (isRefusal(before)) return before
    // A repeat, which a client may send after a lost answer: one session at a time decides a match.
    if (before && isPending(before.value)) return showMatch(before)
    // No grant, which is recorded, for a change that will be refused.
    if (before && !mayOpenSession(before.value)) return refuseConsultation()
    const isCurrent = before && (call.if_match ?? before.version) === before.version
    const work = { collection: entityMatches.name, id: correlation_id }
    const principal = isCurrent ? await call.delegation().store(work) : undefined
    if (isRefusal(principal)) return principal
    const changed = await changeMatch(call, correlation_id, { invite: requested.invite }, (current) => {
      if (isPending(current)) return current
      if (!mayOpenSession(current)) return refuseConsultation()
      // The role opens a session without a principal by its own rights.
      if (!principal) return refuse('conflict', 'the match changed meanwhile: retry')
      return { ...current, asks: 1, consult: { ...requested, principal }, updated_at: call.nowIso() }
    })
    if (isRefusal(changed)) return changed
    call.wake('consult')
    return showMatch(changed)
  },
})

export const consensusRemedy = "this site's profile has no role consensus: add it to platform.roles"

export function runsConsensus(call: Pick<Call, 'settings'>): boolean {
  return hasSiteRole(call, 'consensus')
}

/** Whether a session for the match is open, or will be opened. */
function isPending(match: StoredMatch): boolean {
  return match.asks === 1 || findOpenRuling(match) !== undefined
}

/**
 * Returns the match with the end of its open session, if that has ended without a notice: in a release or a profile without
 * one, or in a store of consensus that was lost.
 */
async function learnSessionEnd(
  call: Call,
  before: Doc<StoredMatch> | undefined,
): Promise<Doc<StoredMatch> | Refusal | undefined> {
  const open = before?.value.asks === 0 ? findOpenRuling(before.value) : undefined
  // A stranger learns nothing about sessions of another tenant: the change refuses.
  if (!before || !open || before.value.tenant_id !== call.caller.tenant_id) return before
  const ruling = await readRuling(call, open)
  if (!ruling) return before
  const detail = { session_id: open.session_id, event: ruling.status }
  return await changeMatch(call, before.id, detail, (current) => applyRuling(current, ruling))
}

async function readRuling(call: Call, open: MatchRuling): Promise<MatchRuling | undefined> {
  const end = await readSessionEnd(call, open.session_id)
  if (!isRefusal(end)) {
    if (!end) return undefined
    const { tenant_id: _tenant, event, ...ruling } = end
    return { ...ruling, status: event }
  }
  if (end.code !== 'not_found') throw end
  return { ...open, seq: 1, status: 'failed', reason: 'the session does not exist at this site any longer' }
}

function refuseConsultation(): Refusal {
  return refuse('wrong_state', 'a session has decided this match, or a person has')
}

// Lets decisions of peers decide matches of this site, as the rules of the profile permit.
import type { Call } from '../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../kernel/operation/operation-contract.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { isSelected, listPeerDecisions, type PeerDecision } from '../../../shared/peer-decision/peer-decision.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import { peerDecisionProgressPart } from '../parts.ts'
import { applyPeerDecision } from '../peer-decision/apply-peer-decision.ts'
import { settings } from '../settings.ts'

const page_size = 500

export const peerDecisionsWorker: Worker = { name: 'peer-decisions', when: { every_ms: 15_000 }, run }

/** Polls, so that nothing is lost while one of the two roles is down. */
async function run(call: Call): Promise<void> {
  const { peer_decisions } = call.settings(settings)
  if (peer_decisions.length === 0 || !hasSiteRole(call, 'consensus')) return
  const progress = call.part(peerDecisionProgressPart)
  const now = call.now()
  const since = progress.beginWalk(now)
  try {
    const newest = await applyDecisionsSince(call, since)
    if (!call.signal.aborted) progress.endWalk(since, newest, now)
  } catch (error) {
    // The consensus role does not answer now: the next run continues from the same place.
    const { trace_id } = call.trace
    call.log.warn('resolution.peer-decision.deferred', { trace_id, error: String(error) })
  }
}

/** Resolves with the time of the newest decision, in epoch milliseconds. */
async function applyDecisionsSince(call: Call, since: number): Promise<number> {
  let newest = 0
  let cursor: string | undefined
  do {
    const query = { limit: page_size, ...(cursor === undefined ? {} : { cursor }) }
    const page = await throwRefusal(call.roles.request(listPeerDecisions, query))
    for (const decision of page.items) {
      if (call.signal.aborted) return newest
      newest = Math.max(newest, Date.parse(decision.updated_at))
      await applyByRules(call, decision)
    }
    const last = page.items.at(-1)
    cursor = last === undefined || Date.parse(last.updated_at) < since ? undefined : page.next_cursor
  } while (cursor !== undefined)
  return newest
}

async function applyByRules(call: Call, decision: PeerDecision): Promise<void> {
  for (const rule of call.settings(settings).peer_decisions) {
    if (isSelected(rule, decision)) await applyPeerDecision(call, rule.lens, decision)
  }
}

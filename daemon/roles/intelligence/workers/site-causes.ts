// Raises signals for conflicts, decisions of peers, quarantine and stale channels, which it reads from other roles.

import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../kernel/operation/operation-contract.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { isSelected, listPeerDecisions, type PeerDecision } from '../../../shared/peer-decision/peer-decision.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import {
  type DissentListItem,
  listChannels,
  listDissent,
  listQuarantine,
  type QuarantineListItem,
} from '../../../shared/signal-cause/signal-cause-lists.ts'
import { pollSchedulePart, seenCausesPart } from '../signal-intake/parts.ts'
import { intakeSettings } from '../signal-intake/settings.ts'
import { type PageQuery, raiseCauses, raiseNewCauses } from '../signal-intake/site-cause/raise-new-causes.ts'
import {
  causeOfConflict,
  causeOfPeerDecision,
  causeOfQuarantine,
  causeOfStaleChannel,
} from '../signal-intake/site-cause/rules.ts'
import { signalSources } from '../signal-source/model.ts'
import { storeCursor } from '../signal-source/store-source.ts'

/**
 * Polls the state of the other roles instead of receiving events: nothing is lost while this role is down.
 */
export const siteCauses: Worker = { name: 'within', when: { every_ms: 1_000 }, run }

/** Cursor name of this worker: names of sources in a profile contain no colon. */
const conflict_cursor_name = 'site:conflict'
const peer_decision_cursor_name = 'site:peer_decision'

async function run(call: Call): Promise<void> {
  const now = call.now()
  const planned = call.part(pollSchedulePart)
  if (planned.isPlanned('site', now) && !planned.isDue('site', now)) return
  const walks = [conflicts, peerDecisions, quarantined, staleChannels].map((walk) =>
    walk(call).catch(logUnreachedRole(call, walk.name)),
  )
  await Promise.all(walks)
  planned.plan('site', now + call.settings(intakeSettings).within_every_s * 1_000, now)
}

/** A role that does not respond is polled again; its items stay. */
function logUnreachedRole({ log, trace }: Call, walk: string) {
  return (error: unknown) => {
    const fields = { trace_id: trace.trace_id, look: walk, error: String(error) }
    if (isRefusal(error) && error.row.retryable) log.warn('intelligence.site_cause.deferred', fields)
    else log.error('intelligence.site_cause.failed', fields)
  }
}

/**
 * Raises all open conflicts when the process starts, then newer ones, resolved or not, including those of its
 * downtime.
 */
async function conflicts(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).conflict.enabled || !hasSiteRole(call, 'consensus')) return
  const walkDissent = (status: { readonly status?: 'open' }) => ({
    readPage: (query: PageQuery) => call.roles.request(listDissent, { ...status, ...query }),
    timeOf: ({ created_at }: DissentListItem) => created_at,
    causeOf: causeOfConflict,
  })
  const stored = (await call.store(signalSources).find(conflict_cursor_name))?.value.cursor
  const before = stored === undefined ? undefined : Number(stored)
  const began = call.now()
  const seenCauses = call.part(seenCausesPart)
  if (!seenCauses.has(conflict_cursor_name)) await raiseNewCauses(call, walkDissent({ status: 'open' }), undefined)
  seenCauses.add(conflict_cursor_name)
  const newest = before === undefined ? began : await raiseNewCauses(call, walkDissent({}), before)
  if (newest > (before ?? 0)) await storeCursor(call, conflict_cursor_name, String(newest))
}

/** Raises all decisions that a rule selects, then newer ones and retractions, including those of its downtime. */
async function peerDecisions(call: Call): Promise<void> {
  const { enabled, rules } = call.settings(intakeSettings).peer_decision
  if (!enabled || rules.length === 0 || !hasSiteRole(call, 'consensus')) return
  const stored = (await call.store(signalSources).find(peer_decision_cursor_name))?.value.cursor
  const before = stored === undefined ? undefined : Number(stored)
  const walk = {
    readPage: (query: PageQuery) => call.roles.request(listPeerDecisions, query),
    timeOf: ({ updated_at }: PeerDecision) => updated_at,
    causeOf: (item: PeerDecision) =>
      rules.some((rule) => isSelected(rule, item)) ? causeOfPeerDecision(item) : undefined,
  }
  const newest = await raiseNewCauses(call, walk, before)
  if (newest > (before ?? 0)) await storeCursor(call, peer_decision_cursor_name, String(newest))
}

/** Raises all quarantined items when the process starts, then newer ones. */
async function quarantined(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).quarantine.enabled) return
  const { tenant_id } = call.site
  const seenCauses = call.part(seenCausesPart)
  const walk = {
    readPage: (query: PageQuery) => call.roles.request(listQuarantine, query),
    timeOf: ({ at }: QuarantineListItem) => at,
    causeOf: (item: QuarantineListItem) => causeOfQuarantine(item, tenant_id),
  }
  seenCauses.newest_quarantine_ms = await raiseNewCauses(call, walk, seenCauses.newest_quarantine_ms)
}

/**
 * Raises a stale channel when it is seen for the second time: a message that just arrived may not have ended the
 * silence yet.
 */
async function staleChannels(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).stale_channel.enabled) return
  const { items } = await throwRefusal(call.roles.request(listChannels, {}))
  const seenCauses = call.part(seenCausesPart)
  const causes = items
    .map((each) => causeOfStaleChannel(each, call.site.tenant_id))
    .filter((each) => each !== undefined)
  await raiseCauses(
    call,
    causes.filter(({ key }) => seenCauses.has(`once ${key}`)),
  )
  for (const { key } of causes) seenCauses.add(`once ${key}`)
}

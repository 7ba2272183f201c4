// Raises signals for conflicts, quarantine and stale channels, which it reads from other roles.

import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../kernel/operation/operation-contract.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
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
import { causeOfConflict, causeOfQuarantine, causeOfStaleChannel } from '../signal-intake/site-cause/rules.ts'
import { signalSources } from '../signal-source/model.ts'
import { storeCursor } from '../signal-source/store-source.ts'

/**
 * Polls the state of the other roles instead of receiving events: nothing is lost while this role is down.
 */
export const siteCauses: Worker = { name: 'within', when: { every_ms: 1_000 }, run }

/** No source of a profile has a colon in its name. */
const conflict_cursor_name = 'site:conflict'

async function run(call: Call): Promise<void> {
  const now = call.now()
  if (!call.part(pollSchedulePart).isDue('site', now, now)) return
  const looks = [conflicts, quarantined, staleChannels].map((look) =>
    look(call).catch(logUnreachedRole(call, look.name)),
  )
  await Promise.all(looks)
  call.part(pollSchedulePart).recordSuccess('site', now + call.settings(intakeSettings).within_every_s * 1_000)
}

/** A role that does not respond is polled again; its items stay. */
function logUnreachedRole({ log, trace }: Call, look: string) {
  return (error: unknown) => {
    const fields = { trace_id: trace.trace_id, look, error: String(error) }
    if (isRefusal(error) && error.row.retryable) log.warn('intelligence.within.later', fields)
    else log.error('intelligence.within.failed', fields)
  }
}

/** All that are open when this process begins; then what is new, settled meanwhile or not, also of the time that it was down. */
async function conflicts(call: Call): Promise<void> {
  const { roles } = call.settings(platformSettings)
  if (!call.settings(intakeSettings).conflict.enabled || !roles.includes('consensus')) return
  const walkDissent = (status: { readonly status?: 'open' }) => ({
    readPage: (query: PageQuery) => call.roles.request(listDissent, { ...status, ...query }),
    timeOf: ({ created_at }: DissentListItem) => created_at,
    causeOf: causeOfConflict,
  })
  const stored = (await call.store(signalSources).find(conflict_cursor_name))?.value.cursor
  const before = stored === undefined ? undefined : Number(stored)
  const began = call.now()
  const seen = call.part(seenCausesPart)
  if (!seen.has(conflict_cursor_name)) await raiseNewCauses(call, walkDissent({ status: 'open' }), undefined)
  seen.add(conflict_cursor_name)
  const newest = before === undefined ? began : await raiseNewCauses(call, walkDissent({}), before)
  if (newest > (before ?? 0)) await storeCursor(call, conflict_cursor_name, String(newest))
}

/** All that lies there when this process begins, then what is new. */
async function quarantined(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).quarantine.enabled) return
  const { tenant_id } = call.site
  const seen = call.part(seenCausesPart)
  const walk = {
    readPage: (query: PageQuery) => call.roles.request(listQuarantine, query),
    timeOf: ({ at }: QuarantineListItem) => at,
    causeOf: (item: QuarantineListItem) => causeOfQuarantine(item, tenant_id),
  }
  seen.newest_quarantine_ms = await raiseNewCauses(call, walk, seen.newest_quarantine_ms)
}

/** Told of when it is seen for the second time: what has just come may be counted before it has ended the silence. */
async function staleChannels(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).stale_channel.enabled) return
  const { items } = await throwRefusal(call.roles.request(listChannels, {}))
  const seen = call.part(seenCausesPart)
  const found = items.map((each) => causeOfStaleChannel(each, call.site.tenant_id)).filter((each) => each !== undefined)
  await raiseCauses(
    call,
    found.filter(({ key }) => seen.has(`once ${key}`)),
  )
  for (const { key } of found) seen.add(`once ${key}`)
}

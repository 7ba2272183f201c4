// Looks at what other roles have that is worth a signal: sessions in conflict, quarantine, stale channels.
import type { Call } from '../../../../kernel/call.ts'
import { isRefused } from '../../../../kernel/errors.ts'
import { platformSettings } from '../../../../kernel/platform-settings.ts'
import type { Worker } from '../../../../kernel/role.ts'
import { schedulePart, seenPart } from '../parts.ts'
import { intakeSettings } from '../settings.ts'
import { signalSources } from '../source/model.ts'
import { cursorWritten } from '../source/written.ts'
import { newestOf, raiseAll } from './newest.ts'
import { channelPage, conflictOf, dissentPage, quarantinedOf, quarantinePage, staleOf } from './rules.ts'

/**
 * What is there is looked at, not what is told: nothing is lost while this role is down, and the other roles know nothing of it.
 */
export const within: Worker = { name: 'within', when: { every_ms: 1_000 }, run }

/** No source of a profile has a colon in its name. */
const conflictsSeen = 'site:conflict'

async function run(call: Call): Promise<void> {
  const now = call.now()
  if (!call.part(schedulePart).isDue('site', now, now)) return
  const looks = [conflicts, quarantined, staleChannels].map((look) => look(call).catch(unreached(call, look.name)))
  await Promise.all(looks)
  call.part(schedulePart).succeeded('site', now + call.settings(intakeSettings).within_every_s * 1_000)
}

/** A role that does not answer now is asked again; what it has does not go away meanwhile. */
function unreached({ log, trace }: Call, look: string) {
  return (error: unknown) => {
    const fields = { trace_id: trace.trace_id, look, error: String(error) }
    if (isRefused(error) && error.row.retryable) log.warn('intelligence.within.later', fields)
    else log.error('intelligence.within.failed', fields)
  }
}

/** All that are open when this process begins; then what is new, settled meanwhile or not, also of the time that it was down. */
async function conflicts(call: Call): Promise<void> {
  const { roles } = call.settings(platformSettings)
  if (!call.settings(intakeSettings).conflict.enabled || !roles.includes('consensus')) return
  const feed = { of: 'dissent', schema: dissentPage, timeOf: ({ created_at }: Dated) => created_at } as const
  const stored = (await call.store(signalSources).find(conflictsSeen))?.value.cursor
  const before = stored === undefined ? undefined : Number(stored)
  const began = call.now()
  const seen = call.part(seenPart)
  if (!seen.has(conflictsSeen))
    await newestOf(call, { ...feed, query: { status: 'open' }, causeOf: conflictOf }, undefined)
  seen.add(conflictsSeen)
  const newest =
    before === undefined ? began : await newestOf(call, { ...feed, query: {}, causeOf: conflictOf }, before)
  if (newest > (before ?? 0)) await cursorWritten(call, conflictsSeen, String(newest))
}
type Dated = { readonly created_at: string }

/** All that lies there when this process begins, then what is new. */
async function quarantined(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).quarantine.enabled) return
  const { tenant_id } = call.site
  const seen = call.part(seenPart)
  const feed = { of: 'quarantine', schema: quarantinePage, query: {}, timeOf: ({ at }: { at: string }) => at } as const
  const causeOf = (item: Parameters<typeof quarantinedOf>[0]) => quarantinedOf(item, tenant_id)
  seen.quarantined = await newestOf(call, { ...feed, causeOf }, seen.quarantined)
}

/** Told of when it is seen for the second time: what has just come may be counted before it has ended the silence. */
async function staleChannels(call: Call): Promise<void> {
  if (!call.settings(intakeSettings).stale_channel.enabled) return
  const { items } = channelPage.parse(await call.others.feed('channel', {}))
  const seen = call.part(seenPart)
  const found = items.map((each) => staleOf(each, call.site.tenant_id)).filter((each) => each !== undefined)
  await raiseAll(
    call,
    found.filter(({ key }) => seen.has(`once ${key}`)),
  )
  for (const { key } of found) seen.add(`once ${key}`)
}

// One peer's line: its folders, the names of its two channels, and whether they may be used at this moment.
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import type { ChannelStatus } from '../../../daemon/kernel/channel-status.ts'
import { isRefused, type Refused } from '../../../daemon/kernel/errors.ts'
import type { Direction } from '../../../daemon/kernel/journal.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import type { Trace } from '../../../daemon/kernel/trace.ts'
import { channelName, type Folders, folderFault, foldersOf } from './layout.ts'
import { alarmsTotal } from './metrics.ts'
import { type Pace, pace } from './pace.ts'
import type { Surroundings } from './surroundings.ts'

export type Standing = {
  readonly state: ChannelStatus['state']
  readonly epoch: number
  readonly detail: string
  /** As pinned at this moment: a revocation counts at once. Absent when the channel may not be used. */
  readonly peer?: Peer
}

export type Line = {
  readonly peer: string
  readonly folders: Folders
  readonly channel: Readonly<Record<Direction, string>>
  /** A fault that only work on the channel could find, until that work goes well again. */
  readonly trouble: Map<Direction, string>
  readonly pace: Readonly<Record<Direction, Pace>>
  /** Nothing has come for three intervals of the peer's inventories, by the clock that never jumps. */
  stale: boolean
  /** Raised already, so that an alarm sounds once. */
  readonly alarms: Map<Direction, string>
}

export function lineTo(peer: string, { root, site }: Pick<Surroundings, 'root' | 'site'>): Line {
  const channel = { out: channelName(site, peer), in: channelName(peer, site) }
  const folders = foldersOf(root, peer)
  return {
    peer,
    folders,
    channel,
    pace: { out: pace(), in: pace() },
    stale: false,
    trouble: new Map(),
    alarms: new Map(),
  }
}

/** Whether the channel may be used now; a stop or a freeze is told once, loudly. */
export async function standing(line: Line, direction: Direction, around: Surroundings): Promise<Standing> {
  const now = await judged(line, direction, around)
  await alarm(line, direction, now, around)
  return now
}

async function judged(line: Line, direction: Direction, { peers, journal, site }: Surroundings): Promise<Standing> {
  const name = line.channel[direction]
  const entry = (await journal.channels()).find(({ channel }) => channel === name)
  const stopped = (detail: string): Standing => ({ state: 'stopped', epoch: entry?.epoch ?? 1, detail })
  if (entry?.state === 'frozen') return { state: 'frozen', epoch: entry.epoch, detail: entry.detail }
  const lost = folderFault(line.folders, site, line.peer)
  if (lost !== undefined) return stopped(lost)
  if (entry?.state !== 'open') return stopped('the journal does not know this channel; enrol the peer')
  const peer = await peers.get(line.peer).catch(asRefusal)
  if (isRefused(peer)) return stopped(peer.message)
  if (!peer) return stopped(`${line.peer} is not pinned any more`)
  const trouble = line.trouble.get(direction)
  return { state: 'open', epoch: entry.epoch, detail: trouble ?? '', peer }
}

/** A peer that may not be used now is no failure of the scan: the channel stands still, and says why. */
function asRefusal(error: unknown): Refused {
  if (isRefused(error)) return error
  throw error
}

async function alarm(line: Line, direction: Direction, now: Standing, around: Surroundings): Promise<void> {
  const detail = now.state === 'open' ? undefined : now.detail
  if (detail === undefined) line.alarms.delete(direction)
  if (detail === undefined || line.alarms.get(direction) === detail) return
  line.alarms.set(direction, detail)
  around.log.error(`filedrop.channel.${now.state}`, { peer: line.peer, direction, detail })
  around.metrics.count(alarmsTotal, { peer: line.peer, alarm: now.state })
  await around.record([
    eventOf(line, `filedrop.channel.${now.state}`, line.channel[direction], { direction, detail }, around),
  ])
}

/**
 * An event of the audit chain about this line; `refused` when something was not let through. `trace` is that of the
 * message which it is about: what concerns the line alone stands in none.
 */
export function eventOf(
  line: Line,
  action: string,
  target: string,
  detail: Readonly<Record<string, unknown>>,
  { clock, tenant_id, random }: Pick<Surroundings, 'clock' | 'tenant_id' | 'random'>,
  more: { readonly outcome?: AuditEvent['outcome']; readonly label?: Label; readonly trace?: Trace } = {},
): AuditEvent {
  // In canonical order, in which it is printed fastest.
  return {
    action,
    at: new Date(clock.now()).toISOString(),
    detail,
    ...(more.label ? { label: more.label } : {}),
    outcome: more.outcome ?? 'done',
    subject: `peer:${line.peer}`,
    target,
    tenant_id,
    trace_id: more.trace?.trace_id ?? random(16),
  }
}

// The link to one peer: its folders, the names of its two channels, and the current state of each.
import { isRefusal, type Refusal } from '../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { ChannelStatus } from '../../../../daemon/kernel/messaging/channel-status.ts'
import type { ChannelDirection } from '../../../../daemon/kernel/messaging/journal.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { type ChannelFolders, channelName, folderFault, foldersOf } from '../files/channel-folders.ts'
import { type PinnedFolders, pinnedFolders } from '../files/pinned-folders.ts'
import { alarmsTotal } from '../metrics.ts'
import { linkAuditEvent } from './link-audit-event.ts'
import { type ThroughputMeter, throughputMeter } from './throughput-meter.ts'

export type FiledropChannelState = {
  readonly state: ChannelStatus['state']
  readonly epoch: number
  readonly detail: string
  /** As pinned at this moment: a revocation counts at once. Absent when the channel may not be used. */
  readonly peer?: Peer
}

export type FiledropLink = {
  readonly peer: string
  /** The plain paths, for what only looks at a folder or gives its name to another program. */
  readonly paths: ChannelFolders
  /** The folders as they were opened: see `PinnedFolders`. */
  readonly folders: ChannelFolders
  readonly pins: PinnedFolders
  readonly channel: Readonly<Record<ChannelDirection, string>>
  /** A fault that only work on the channel could find, until that work goes well again. */
  readonly trouble: Map<ChannelDirection, string>
  readonly throughput: Readonly<Record<ChannelDirection, ThroughputMeter>>
  /** Nothing has come for three intervals of the peer's inventories, by the clock that never jumps. */
  stale: boolean
  /** Raised already, so that an alarm sounds once. */
  readonly alarms: Map<ChannelDirection, string>
}

export function filedropLink(peer: string, { root, site }: Pick<FiledropContext, 'root' | 'site'>): FiledropLink {
  const channel = { out: channelName(site, peer), in: channelName(peer, site) }
  const paths = foldersOf(root, peer)
  const pins = pinnedFolders(paths)
  return {
    peer,
    paths,
    folders: pins.folders,
    pins,
    channel,
    throughput: { out: throughputMeter(), in: throughputMeter() },
    stale: false,
    trouble: new Map(),
    alarms: new Map(),
  }
}

/** Whether the channel may be used now; a stop or a freeze raises one alarm. */
export async function checkChannelState(
  link: FiledropLink,
  direction: ChannelDirection,
  filedrop: FiledropContext,
): Promise<FiledropChannelState> {
  const now = await readChannelState(link, direction, filedrop)
  await raiseAlarm(link, direction, now, filedrop)
  return now
}

async function readChannelState(
  link: FiledropLink,
  direction: ChannelDirection,
  { peers, journal, site }: FiledropContext,
): Promise<FiledropChannelState> {
  const name = link.channel[direction]
  const entry = (await journal.channels()).find(({ channel }) => channel === name)
  const stopped = (detail: string): FiledropChannelState => ({ state: 'stopped', epoch: entry?.epoch ?? 1, detail })
  if (entry?.state === 'frozen') return { state: 'frozen', epoch: entry.epoch, detail: entry.detail }
  const lost = folderFault(link.paths, site, link.peer) ?? link.pins.fault()
  if (lost !== undefined) return stopped(lost)
  if (entry?.state !== 'open') return stopped('the journal does not know this channel; enrol the peer')
  const peer = await peers.get(link.peer).catch(toRefusal)
  if (isRefusal(peer)) return stopped(peer.message)
  if (!peer) return stopped(`${link.peer} is no longer pinned`)
  const trouble = link.trouble.get(direction)
  return { state: 'open', epoch: entry.epoch, detail: trouble ?? '', peer }
}

/** A peer that may not be used now is not a failure of the scan: the channel stops and reports the reason. */
function toRefusal(error: unknown): Refusal {
  if (isRefusal(error)) return error
  throw error
}

async function raiseAlarm(
  link: FiledropLink,
  direction: ChannelDirection,
  now: FiledropChannelState,
  filedrop: FiledropContext,
): Promise<void> {
  const detail = now.state === 'open' ? undefined : now.detail
  if (detail === undefined) link.alarms.delete(direction)
  if (detail === undefined || link.alarms.get(direction) === detail) return
  link.alarms.set(direction, detail)
  filedrop.log.error(`filedrop.channel.${now.state}`, { peer: link.peer, direction, detail })
  filedrop.metrics.count(alarmsTotal, { peer: link.peer, alarm: now.state })
  await filedrop.record([
    linkAuditEvent(link, `filedrop.channel.${now.state}`, link.channel[direction], { direction, detail }, filedrop),
  ])
}

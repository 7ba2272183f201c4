// The operator's view of a link: numbers, backlog and faults of both directions.
import type { ChannelStatus } from '../../../../daemon/kernel/messaging/channel-status.ts'
import type { ChannelDirection, JournalChannel } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SetAsideMessage } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { measureQuarantine } from '../quarantine/quarantine-files.ts'
import { countIncoming } from '../receiving/scan/incoming-count.ts'
import { checkChannelState, type FiledropLink } from './filedrop-link.ts'
import type { FiledropLinkRuntime } from './link-runtime.ts'

export async function readLinkStatus(
  running: FiledropLinkRuntime,
  filedrop: FiledropContext,
): Promise<ChannelStatus[]> {
  return [await readOutStatus(running, filedrop), await readInStatus(running, filedrop)]
}

/** Notes how much has gone through, so that a later status can say how fast. */
export async function recordThroughput(link: FiledropLink, filedrop: FiledropContext): Promise<void> {
  const at = filedrop.clock.monotonic()
  for (const direction of ['out', 'in'] as const) {
    link.throughput[direction].record(await countTransferred(link, direction, filedrop), at)
  }
}

/** Messages that were made ready for the carrier, or applied, since the channel was enrolled. */
async function countTransferred(
  link: FiledropLink,
  direction: ChannelDirection,
  filedrop: FiledropContext,
): Promise<number> {
  const channel = link.channel[direction]
  const entry = await findChannel(channel, filedrop)
  if (direction === 'in') return entry?.received ?? 0
  return Math.max(0, (entry?.sent ?? 0) - (await filedrop.journal.backlog(channel)).spooled)
}

async function readOutStatus({ link }: FiledropLinkRuntime, filedrop: FiledropContext): Promise<ChannelStatus> {
  const { journal } = filedrop
  const channel = link.channel.out
  const { state, detail } = await checkChannelState(link, 'out', filedrop)
  const { epoch, seq } = await journal.head(channel)
  const { spooled, published, oldest } = await journal.backlog(channel)
  return {
    ...{ peer: link.peer, direction: 'out', state, stale: false, epoch, next_seq: seq + 1, highest_seq: seq, gaps: 0 },
    ...{
      is_inventory_pending: false,
      set_aside: [],
      backlog: spooled + published,
      held: 0,
      quarantined: 0,
      quarantined_bytes: 0,
    },
    ...(await readCommonStatus(link, 'out', oldest, filedrop)),
    detail,
  }
}

async function readInStatus(running: FiledropLinkRuntime, filedrop: FiledropContext): Promise<ChannelStatus> {
  const { link } = running
  const { journal } = filedrop
  const channel = link.channel.in
  const { state, epoch, detail } = await checkChannelState(link, 'in', filedrop)
  const { floor, highest, arrived } = await journal.progress(channel, epoch)
  const { messages, first } = await countIncoming(link.folders)
  const inQuarantine = () => running.intake()?.quarantined() ?? measureQuarantine(link.folders.quarantine)
  const stock = orIfMissing(inQuarantine, { items: 0, bytes: 0 })
  const set_aside = countSetAside(await journal.setAside(channel))
  const aside = set_aside.reduce((sum, each) => sum + each.messages, 0)
  const { inventory = 0 } = (await findChannel(channel, filedrop)) ?? {}
  const entry = first && (await journal.entry(channel, first.epoch, first.seq))
  const oldest = earliest(entry?.state === 'received' ? entry.at : undefined, (await journal.backlog(channel)).oldest)
  return {
    ...{ peer: link.peer, direction: 'in', state, stale: link.stale, epoch },
    ...{ next_seq: floor + 1, highest_seq: highest, gaps: highest - floor - arrived },
    ...{ is_inventory_pending: inventory === 0, set_aside },
    ...{ backlog: Math.max(0, messages - aside), held: running.intake()?.held() ?? 0 },
    ...{ quarantined: stock.items, quarantined_bytes: stock.bytes },
    ...(await readCommonStatus(link, 'in', messages <= aside ? undefined : oldest, filedrop)),
    detail,
  }
}

/** By role and kind. */
export function countSetAside(messages: readonly SetAsideMessage[]): ChannelStatus['set_aside'] {
  const counts = new Map<string, ChannelStatus['set_aside'][number]>()
  for (const { role, kind } of messages) {
    const known = counts.get(`${role} ${kind}`)
    counts.set(`${role} ${kind}`, { role, kind, messages: (known?.messages ?? 0) + 1 })
  }
  return [...counts.values()]
}

type CommonChannelStatus = Pick<
  ChannelStatus,
  'inventory_age_s' | 'inventory_at' | 'oldest_waiting_s' | 'messages_per_minute' | 'sent' | 'received' | 'duplicates'
>

/** `oldest`: since when the first of the backlog is here, in epoch milliseconds. */
async function readCommonStatus(
  link: FiledropLink,
  direction: ChannelDirection,
  oldest: number | undefined,
  filedrop: FiledropContext,
): Promise<CommonChannelStatus> {
  const {
    sent = 0,
    received = 0,
    duplicates = 0,
    inventory_at = 0,
  } = (await findChannel(link.channel[direction], filedrop)) ?? {}
  const now = filedrop.clock.now()
  const ageOf = (at: number) => Math.max(0, Math.round((now - at) / 1_000))
  const count = await countTransferred(link, direction, filedrop)
  const messages_per_minute = link.throughput[direction].perMinute(count, filedrop.clock.monotonic())
  return {
    ...(inventory_at === 0
      ? {}
      : { inventory_age_s: ageOf(inventory_at), inventory_at: new Date(inventory_at).toISOString() }),
    ...(oldest === undefined ? {} : { oldest_waiting_s: ageOf(oldest) }),
    messages_per_minute: Math.round(messages_per_minute * 10) / 10,
    ...{ sent, received, duplicates },
  }
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

async function findChannel(channel: string, { journal }: FiledropContext): Promise<JournalChannel | undefined> {
  return (await journal.channels()).find((each) => each.channel === channel)
}

/** Folders that are gone hold nothing; that they are gone is what the state says. */
function orIfMissing<T>(look: () => T, nothing: T): T {
  try {
    return look()
  } catch {
    return nothing
  }
}

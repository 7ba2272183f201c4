// A line as an operator sees it: both directions, each with its numbers, what waits and what is wrong.
import type { ChannelStatus } from '../../../daemon/kernel/channel-status.ts'
import type { Channel, Direction } from '../../../daemon/kernel/journal.ts'
import { type Line, standing } from './line.ts'
import { stockOf } from './quarantine/quarantine.ts'
import { countIncoming } from './receiving/incoming-count.ts'
import type { RunningLine } from './running-line.ts'
import type { Surroundings } from './surroundings.ts'

export async function statusOf(running: RunningLine, around: Surroundings): Promise<ChannelStatus[]> {
  return [await outStatus(running, around), await inStatus(running, around)]
}

/** Notes how much has gone through, so that a later status can say how fast. */
export async function notePace(line: Line, around: Surroundings): Promise<void> {
  const at = around.clock.monotonic()
  for (const direction of ['out', 'in'] as const) {
    line.pace[direction].note(await passed(line, direction, around), at)
  }
}

/** Messages that were made ready for the carrier, or applied, since the channel was enrolled. */
async function passed(line: Line, direction: Direction, around: Surroundings): Promise<number> {
  const channel = line.channel[direction]
  const entry = await entryOf(channel, around)
  if (direction === 'in') return entry?.received ?? 0
  return Math.max(0, (entry?.sent ?? 0) - (await around.journal.backlog(channel)).spooled)
}

async function outStatus({ line }: RunningLine, around: Surroundings): Promise<ChannelStatus> {
  const { journal } = around
  const channel = line.channel.out
  const { state, detail } = await standing(line, 'out', around)
  const { epoch, seq } = await journal.head(channel)
  const { spooled, published, oldest } = await journal.backlog(channel)
  return {
    ...{ peer: line.peer, direction: 'out', state, stale: false, epoch, next_seq: seq + 1, highest_seq: seq, gaps: 0 },
    ...{ backlog: spooled + published, held: 0, quarantined: 0, quarantined_bytes: 0 },
    ...(await common(line, 'out', oldest, around)),
    detail,
  }
}

async function inStatus(running: RunningLine, around: Surroundings): Promise<ChannelStatus> {
  const { line } = running
  const { journal } = around
  const channel = line.channel.in
  const { state, epoch, detail } = await standing(line, 'in', around)
  const { floor, highest, arrived } = await journal.progress(channel, epoch)
  const { messages, first } = await countIncoming(line.folders)
  const inQuarantine = () => running.intake()?.quarantined() ?? stockOf(line.folders.quarantine)
  const stock = unlessGone(inQuarantine, { items: 0, bytes: 0 })
  const entry = first && (await journal.entry(channel, first.epoch, first.seq))
  const oldest = least(entry?.state === 'received' ? entry.at : undefined, (await journal.backlog(channel)).oldest)
  return {
    ...{ peer: line.peer, direction: 'in', state, stale: line.stale, epoch },
    ...{ next_seq: floor + 1, highest_seq: highest, gaps: highest - floor - arrived },
    ...{ backlog: messages, held: running.intake()?.held() ?? 0 },
    ...{ quarantined: stock.items, quarantined_bytes: stock.bytes },
    ...(await common(line, 'in', messages === 0 ? undefined : oldest, around)),
    detail,
  }
}

type Common = Pick<
  ChannelStatus,
  'inventory_age_s' | 'inventory_at' | 'oldest_waiting_s' | 'messages_per_minute' | 'sent' | 'received' | 'duplicates'
>

/** `oldest`: since when the first of the backlog is here, in epoch milliseconds. */
async function common(
  line: Line,
  direction: Direction,
  oldest: number | undefined,
  around: Surroundings,
): Promise<Common> {
  const {
    sent = 0,
    received = 0,
    duplicates = 0,
    inventory_at = 0,
  } = (await entryOf(line.channel[direction], around)) ?? {}
  const now = around.clock.now()
  const ageOf = (at: number) => Math.max(0, Math.round((now - at) / 1_000))
  const count = await passed(line, direction, around)
  const messages_per_minute = line.pace[direction].perMinute(count, around.clock.monotonic())
  return {
    ...(inventory_at === 0
      ? {}
      : { inventory_age_s: ageOf(inventory_at), inventory_at: new Date(inventory_at).toISOString() }),
    ...(oldest === undefined ? {} : { oldest_waiting_s: ageOf(oldest) }),
    messages_per_minute: Math.round(messages_per_minute * 10) / 10,
    ...{ sent, received, duplicates },
  }
}

function least(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

async function entryOf(channel: string, { journal }: Surroundings): Promise<Channel | undefined> {
  return (await journal.channels()).find((each) => each.channel === channel)
}

/** Folders that are gone hold nothing; that they are gone is what the state says. */
function unlessGone<T>(look: () => T, nothing: T): T {
  try {
    return look()
  } catch {
    return nothing
  }
}

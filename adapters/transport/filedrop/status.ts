// A line as an operator sees it: both directions, each with its numbers and what is wrong.
import type { ChannelStatus } from '../../../daemon/kernel/transport.ts'
import { lookInto } from './dropbox.ts'
import { standing } from './line.ts'
import { stockOf } from './quarantine.ts'
import type { RunningLine } from './running-line.ts'
import type { Surroundings } from './surroundings.ts'

export async function statusOf(running: RunningLine, around: Surroundings): Promise<ChannelStatus[]> {
  return [await outStatus(running, around), await inStatus(running, around)]
}

async function outStatus({ line }: RunningLine, around: Surroundings): Promise<ChannelStatus> {
  const { journal } = around
  const { state, detail } = await standing(line, 'out', around)
  const { epoch, seq } = await journal.head(line.channel.out)
  const spooled = await journal.numbers(line.channel.out, 'SPOOLED')
  const published = await journal.numbers(line.channel.out, 'PUBLISHED')
  const entry = await entryOf(line.channel.out, around)
  return {
    ...{ peer: line.peer, direction: 'out', state, epoch, next_seq: seq + 1, highest_seq: seq, gaps: 0 },
    backlog: spooled.length + published.length,
    ...{ quarantined: 0, sent: entry?.sent ?? 0, received: 0, duplicates: 0, detail },
  }
}

async function inStatus(running: RunningLine, around: Surroundings): Promise<ChannelStatus> {
  const { line } = running
  const { state, epoch, detail } = await standing(line, 'in', around)
  const { floor, highest, arrived } = await around.journal.progress(line.channel.in, epoch)
  const entry = await entryOf(line.channel.in, around)
  const { received = 0, duplicates = 0 } = entry ?? {}
  return {
    ...{ peer: line.peer, direction: 'in', state, epoch, next_seq: floor + 1, highest_seq: highest },
    gaps: highest - floor - arrived,
    backlog: orZero(() => lookInto(line.folders).items.length),
    quarantined: orZero(() => (running.intake()?.quarantined() ?? stockOf(line.folders.quarantine)).items),
    ...{ sent: 0, received, duplicates, detail },
  }
}

async function entryOf(channel: string, { journal }: Surroundings) {
  return (await journal.channels()).find((each) => each.channel === channel)
}

/** Folders that are gone hold nothing; that they are gone is what the state says. */
function orZero(count: () => number): number {
  try {
    return count()
  } catch {
    return 0
  }
}

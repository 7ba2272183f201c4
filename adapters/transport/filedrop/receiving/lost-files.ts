// After a power cut the ledger may know of messages whose files the disk has not: they are missing again, so that they are asked for.
import type { Gap, MessageNumber } from '../../../../daemon/kernel/journal.ts'
import { eventOf } from '../line.ts'
import { nameOf } from '../names.ts'
import type { Item } from './dropbox.ts'
import type { ScanDesk } from './fate.ts'

/** Runs of numbers that one event names. */
const most_runs = 16

/**
 * `items`: all that lies there; `incomplete`: pairs of them that waited with the last scan. The carrier that writes the
 * files waits for no disk, and to wait here for each would cost more than the message: so what was taken in, and is not
 * whole any more, is looked for at each scan.
 */
export async function giveUpLost(
  items: Iterable<Item>,
  incomplete: Pick<ReadonlySet<string>, 'has'>,
  { around, place, line, held, early }: ScanDesk,
): Promise<void> {
  const unfinished = await around.journal.unfinished(place.channel)
  if (unfinished.length + early.size === 0) return
  const gone = new Set(early)
  const missing = new Set(unfinished.map(stemOf))
  for (const { stem, env, body } of items) {
    gone.delete(stem)
    if (env && body && !incomplete.has(stem)) missing.delete(stem)
  }
  // The ledger does not know of these: they come again with what is missing of their epoch.
  for (const stem of gone) early.delete(stem)
  const lost = unfinished.filter((number) => missing.has(stemOf(number)))
  const events = [...new Set(lost.map(({ epoch }) => epoch))].map((epoch) => {
    const numbers = lost.filter((each) => each.epoch === epoch).map(({ seq }) => seq)
    const about = { epoch, messages: numbers.length, runs: runsOf(numbers).slice(0, most_runs) }
    around.log.error('filedrop.messages.lost', { peer: line.peer, ...about })
    return eventOf(line, 'filedrop.messages.lost', place.channel, about, around)
  })
  if (lost.length > 0) await around.journal.lose(place.channel, lost, events)
  for (const number of lost) held.delete(stemOf(number))
}

/** `numbers` rise. */
function runsOf(numbers: readonly number[]): Gap[] {
  const runs: { first: number; last: number }[] = []
  for (const seq of numbers) {
    const last = runs.at(-1)
    if (last?.last === seq - 1) last.last = seq
    else runs.push({ first: seq, last: seq })
  }
  return runs
}

function stemOf({ epoch, seq }: MessageNumber): string {
  return nameOf(epoch, seq).stem
}

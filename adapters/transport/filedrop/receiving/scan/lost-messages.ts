// Finds messages that the ledger knows and whose files a power cut lost, and marks them missing.
import type { Gap, MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import type { ScanContext } from '../scan-context.ts'
import type { IncomingItem } from './incoming-files.ts'

/** Runs of numbers that one event names. */
const max_event_runs = 16

/**
 * `items`: all that lies there; `incomplete`: pairs of them that waited with the last scan. The carrier that writes the
 * files waits for no disk, and to wait here for each would cost more than the message: so what was taken in, and is not
 * whole any more, is looked for at each scan.
 */
export async function recordLostMessages(
  items: Iterable<IncomingItem>,
  incomplete: Pick<ReadonlySet<string>, 'has'>,
  { filedrop, destination, link, held, early, waiting }: ScanContext,
): Promise<void> {
  const unfinished = new Map<string, MessageNumber>([...waiting.received, ...waiting.aside])
  if (unfinished.size + early.size === 0) return
  const gone = new Set(early.keys())
  const missing = new Set(unfinished.keys())
  for (const { stem, env, body } of items) {
    gone.delete(stem)
    if (env && body && !incomplete.has(stem)) missing.delete(stem)
  }
  // The ledger lacks these: they are sent again with the missing numbers of their epoch.
  for (const stem of gone) early.delete(stem)
  const lost = [...missing].sort().flatMap((stem) => unfinished.get(stem) ?? [])
  const events = [...new Set(lost.map(({ epoch }) => epoch))].map((epoch) => {
    const numbers = lost.filter((each) => each.epoch === epoch).map(({ seq }) => seq)
    const about = { epoch, messages: numbers.length, runs: toRuns(numbers).slice(0, max_event_runs) }
    filedrop.log.error('filedrop.messages.lost', { peer: link.peer, ...about })
    return linkAuditEvent(link, 'filedrop.messages.lost', destination.channel, about, filedrop)
  })
  if (lost.length > 0) await filedrop.journal.markLost(destination.channel, lost, events)
  for (const stem of missing) {
    held.delete(stem)
    waiting.aside.delete(stem)
  }
}

/** `numbers` rise. */
function toRuns(numbers: readonly number[]): Gap[] {
  const runs: { first: number; last: number }[] = []
  for (const seq of numbers) {
    const last = runs.at(-1)
    if (last?.last === seq - 1) last.last = seq
    else runs.push({ first: seq, last: seq })
  }
  return runs
}

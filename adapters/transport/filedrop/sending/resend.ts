// Sends again what never arrived: the identical bytes, held to what was signed before they go out.
import { refuse } from '../../../../daemon/kernel/errors.ts'
import type { Gap, SentEntry } from '../../../../daemon/kernel/journal.ts'
import type { NotResent, Resent } from '../../../../daemon/kernel/one-way.ts'
import { type Line, standing } from '../line.ts'
import { resentTotal } from '../metrics.ts'
import { oneByOne } from '../one-at-a-time.ts'
import type { Surroundings } from '../surroundings.ts'
import { ownMessage, type Towards } from './own-message.ts'
import { publish } from './publishing.ts'

/** Numbers looked at by one call, and read from the journal at once. */
const most_numbers = 1_000
const batch = 64

export type Resending = {
  /** The runs rise, and are of one epoch. Throws `Refused('rate_limited')` and `('unavailable')`. */
  resend(epoch: number, runs: readonly Gap[], which?: Which): Promise<Omit<Resent, 'peer'>>
  /**
   * For a receiver that knows of `epoch` only: what became of the announcement of the current one, which may be lost.
   * Undefined when there is none later. Throws the same.
   */
  announceAgain(epoch: number, which?: Which): Promise<Resent['announcement']>
  /** When what is being sent again is out. */
  idle(): Promise<void>
}

/** Numbers from `from` on, and those alone that the carrier took before this instant; all, unless said. */
export type Which = { readonly from?: number; readonly before?: number }

/** Nothing that a receipt asks for can make a line send more than so many messages a minute again. */
export function resending(line: Line, around: Surroundings): Resending {
  const allowance = allowanceOf(around)
  const alone = oneByOne()
  const resend: Resending['resend'] = (epoch, runs, which = {}) => alone(() => resendNow(epoch, runs, which))
  return {
    resend,
    async announceAgain(epoch, which) {
      const head = await around.journal.head(line.channel.out)
      if (head.epoch <= epoch) return undefined
      const { resent, waiting, not_resent } = await resend(head.epoch, [{ first: 1, last: 1 }], which)
      if (resent + waiting === 0) return not_resent[0]?.why
      return resent > 0 ? 'resent' : 'waiting'
    },
    idle: () => alone(async () => undefined),
  }

  async function resendNow(epoch: number, runs: readonly Gap[], which: Which) {
    const now = await standing(line, 'out', around)
    if (!now.peer) throw refuse('unavailable', `the channel to ${line.peer} is ${now.state}: ${now.detail}`)
    const room = Math.min(most_numbers, allowance.left())
    if (room === 0) throw refuse('rate_limited', 'so many messages were sent again that others must wait a minute')
    const tally: Tally = { epoch, resent: 0, waiting: 0, not_resent: [] }
    const next = await resendRuns({ line, peer: now.peer }, epoch, runs, { ...which, room }, tally, around)
    allowance.spend(tally.resent)
    if (tally.resent > 0) around.published(line.peer)
    around.metrics.count(resentTotal, { peer: line.peer }, tally.resent)
    around.log.info('filedrop.messages.resent', { peer: line.peer, epoch, resent: tally.resent })
    return { ...tally, ...(next === undefined ? {} : { next }) }
  }
}

type Tally = { -readonly [K in keyof Omit<Resent, 'peer' | 'next'>]: Resent[K] }
type Bounds = Which & { readonly room: number }

/** The first number for which there was no room left; undefined when all were looked at. */
async function resendRuns(
  towards: Towards,
  epoch: number,
  runs: readonly Gap[],
  { from = 1, before = Number.POSITIVE_INFINITY, room }: Bounds,
  tally: Tally,
  around: Surroundings,
): Promise<number | undefined> {
  let left = room
  for (const { first, last } of runs) {
    let seq = Math.max(first, from)
    while (seq <= last) {
      if (left === 0) return seq
      const run = await around.journal.sentRun(towards.line.channel.out, epoch, seq, last, Math.min(left, batch))
      for (const entry of run) count(tally, entry.seq, await again(towards, entry, before, around))
      if (run.length === 0) tally.not_resent.push({ first: seq, last, why: 'never_sent' })
      left -= run.length
      seq = (run.at(-1)?.seq ?? last) + 1
    }
  }
  return undefined
}

type Outcome = 'resent' | 'waiting' | NotResent

async function again(towards: Towards, entry: SentEntry, before: number, around: Surroundings): Promise<Outcome> {
  if (entry.state === 'SPOOLED' || entry.state === 'PUBLISHED') return 'waiting'
  if (entry.state === 'PURGED') return 'purged'
  if (entry.taken === undefined) return 'not_kept'
  if (entry.taken >= before) return 'waiting'
  const { folders } = towards.line
  const bytes = await ownMessage(folders.sent, entry, entry.digest, towards, around)
  if (typeof bytes === 'string') return bytes
  const placed = await publish(folders, { ...entry, ...bytes }, around.reached)
  around.reached('resent')
  return placed === 'different' ? 'in_the_way' : 'resent'
}

/** Numbers that one reason keeps back in a row are one entry. */
function count(tally: Tally, seq: number, outcome: Outcome): void {
  if (outcome === 'resent' || outcome === 'waiting') {
    tally[outcome] += 1
    return
  }
  const before = tally.not_resent.at(-1)
  if (before?.why === outcome && before.last === seq - 1) before.last = seq
  else tally.not_resent.push({ first: seq, last: seq, why: outcome })
}

const minute_ms = 60_000

/** Fills up evenly, on the clock that never jumps. */
function allowanceOf({ clock, settings }: Surroundings) {
  const most = settings.resend_per_min
  let left = most
  let seen = clock.monotonic()
  return {
    left(): number {
      const now = clock.monotonic()
      left = Math.min(most, left + ((now - seen) / minute_ms) * most)
      seen = now
      return Math.floor(left)
    },
    spend(messages: number): void {
      left -= messages
    },
  }
}

// Resends messages that did not arrive: the identical bytes, verified against their statement first.
import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import type { Gap, SentEntry } from '../../../../daemon/kernel/messaging/journal.ts'
import type { ResendFailure, ResendReport } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { checkChannelState, type FiledropLink } from '../link/filedrop-link.ts'
import { resentTotal } from '../metrics.ts'
import { serialQueue } from '../serial-work.ts'
import { type OutgoingLink, readOwnMessage } from './own-message.ts'
import { publishMessage } from './publish-message.ts'

/** Numbers looked at by one call, and read from the journal at once. */
const max_numbers_per_call = 1_000
const max_numbers_per_read = 64

export type MessageResender = {
  /** The runs rise, and are of one epoch. Throws `Refusal('rate_limited')` and `('unavailable')`. */
  resend(epoch: number, runs: readonly Gap[], which?: ResendFilter): Promise<Omit<ResendReport, 'peer'>>
  /**
   * For a receiver that knows of `epoch` only: what became of the announcement of the current one, which may be lost.
   * Undefined when there is none later. Throws the same.
   */
  announceAgain(epoch: number, which?: ResendFilter): Promise<ResendReport['announcement']>
  /** Resolves when the messages being resent are published. */
  idle(): Promise<void>
}

/** Numbers from `from` on that the carrier took before this instant (default: all). */
export type ResendFilter = { readonly from?: number; readonly before?: number }

/** A receipt cannot make a channel resend more than this many messages a minute. */
export function messageResender(link: FiledropLink, filedrop: FiledropContext): MessageResender {
  const allowance = resendAllowance(filedrop)
  const alone = serialQueue()
  const resend: MessageResender['resend'] = (epoch, runs, which = {}) => alone(() => resendNow(epoch, runs, which))
  return {
    resend,
    async announceAgain(epoch, which) {
      const head = await filedrop.journal.head(link.channel.out)
      if (head.epoch <= epoch) return undefined
      const { resent, waiting, not_resent } = await resend(head.epoch, [{ first: 1, last: 1 }], which)
      if (resent + waiting === 0) return not_resent[0]?.why
      return resent > 0 ? 'resent' : 'waiting'
    },
    idle: () => alone(async () => undefined),
  }

  async function resendNow(epoch: number, runs: readonly Gap[], which: ResendFilter) {
    const now = await checkChannelState(link, 'out', filedrop)
    if (!now.peer) throw refuse('unavailable', `the channel to ${link.peer} is ${now.state}: ${now.detail}`)
    const room = Math.min(max_numbers_per_call, allowance.left())
    if (room === 0) throw refuse('rate_limited', 'too many messages were sent again within a minute; retry in a minute')
    const tally: ResendTally = { epoch, resent: 0, waiting: 0, not_resent: [] }
    const next = await resendRuns({ link, peer: now.peer }, epoch, runs, { ...which, room }, tally, filedrop)
    allowance.spend(tally.resent)
    if (tally.resent > 0) filedrop.onPublished(link.peer)
    filedrop.metrics.count(resentTotal, { peer: link.peer }, tally.resent)
    filedrop.log.info('filedrop.messages.resent', { peer: link.peer, epoch, resent: tally.resent })
    return { ...tally, ...(next === undefined ? {} : { next }) }
  }
}

type ResendTally = { -readonly [K in keyof Omit<ResendReport, 'peer' | 'next'>]: ResendReport[K] }
type ResendBounds = ResendFilter & { readonly room: number }

/** The first number for which there was no room left; undefined when all were looked at. */
async function resendRuns(
  outgoing: OutgoingLink,
  epoch: number,
  runs: readonly Gap[],
  { from = 1, before = Number.POSITIVE_INFINITY, room }: ResendBounds,
  tally: ResendTally,
  filedrop: FiledropContext,
): Promise<number | undefined> {
  let left = room
  for (const { first, last } of runs) {
    let seq = Math.max(first, from)
    while (seq <= last) {
      if (left === 0) return seq
      const run = await filedrop.journal.sentRun(
        outgoing.link.channel.out,
        epoch,
        seq,
        last,
        Math.min(left, max_numbers_per_read),
      )
      for (const entry of run) tallyOutcome(tally, entry.seq, await resendMessage(outgoing, entry, before, filedrop))
      if (run.length === 0) tally.not_resent.push({ first: seq, last, why: 'never_sent' })
      left -= run.length
      seq = (run.at(-1)?.seq ?? last) + 1
    }
  }
  return undefined
}

type ResendOutcome = 'resent' | 'waiting' | ResendFailure

async function resendMessage(
  outgoing: OutgoingLink,
  entry: SentEntry,
  before: number,
  filedrop: FiledropContext,
): Promise<ResendOutcome> {
  if (entry.state === 'SPOOLED' || entry.state === 'PUBLISHED') return 'waiting'
  if (entry.state === 'PURGED') return 'purged'
  if (entry.taken === undefined) return 'not_kept'
  if (entry.taken >= before) return 'waiting'
  const { folders } = outgoing.link
  const bytes = await readOwnMessage(folders.sent, entry, entry.digest, outgoing, filedrop)
  if (typeof bytes === 'string') return bytes
  const placed = await publishMessage(folders, { ...entry, ...bytes }, filedrop.passFaultPoint)
  filedrop.passFaultPoint('resent')
  return placed === 'different' ? 'in_the_way' : 'resent'
}

/** Numbers that one reason keeps back in a row are one entry. */
function tallyOutcome(tally: ResendTally, seq: number, outcome: ResendOutcome): void {
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
function resendAllowance({ clock, settings }: FiledropContext) {
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

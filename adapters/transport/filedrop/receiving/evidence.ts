// Takes a peer's acknowledgements: what they prove to have arrived is so marked, what they miss twice goes out again.
import { isRefused } from '../../../../daemon/kernel/errors.ts'
import type { Gap } from '../../../../daemon/kernel/journal.ts'
import type { GapReceipt } from '../../../../daemon/kernel/one-way.ts'
import type { Incoming, Verdict } from '../../../../daemon/kernel/transport.ts'
import { failureText } from '../failure-text.ts'
import { eventOf, type Line } from '../line.ts'
import { oneByOne } from '../one-at-a-time.ts'
import { acknowledgement_bytes, acknowledgement_schema, acknowledgementData } from '../sending/acknowledgement.ts'
import { readGapReceipt } from '../sending/gap-receipt.ts'
import type { Outbox } from '../sending/outbox.ts'
import type { Surroundings } from '../surroundings.ts'

export type Evidence = { take(message: Incoming): Promise<Verdict> }

/** The last one that was taken; `at`: when it was made, or came, whichever is earlier. */
type Last = { readonly receipt: GapReceipt; readonly at: number }

export function evidence(line: Line, outbox: Outbox, around: Surroundings): Evidence {
  const alone = oneByOne()
  let last: Last | undefined

  const takeNow = async (message: Incoming): Promise<Verdict> => {
    const receipt = await receiptIn(message, line, around)
    if ('verdict' in receipt) return receipt
    await outbox.lookForPickups()
    await acknowledge(line, receipt, around)
    // One that was overtaken tells nothing new.
    if (last && receipt.created <= last.receipt.created) return { verdict: 'applied' }
    const before = last
    last = { receipt, at: Math.min(Date.parse(receipt.created), around.clock.now()) }
    if (before && (await resendMissing(line, outbox, before, receipt, around))) last = undefined
    return { verdict: 'applied' }
  }
  return { take: (message) => alone(() => takeNow(message)) }
}

async function receiptIn(message: Incoming, line: Line, around: Surroundings): Promise<GapReceipt | Verdict> {
  const no = (code: string, detail: string): Verdict => ({ verdict: 'refused', code, detail })
  if (!around.isAccredited(line.peer)) return no('forbidden', `a way back from ${line.peer} is not accredited`)
  const { schema } = message.statement.body
  const data = acknowledgementData.safeParse(message.body).data
  if (schema !== acknowledgement_schema || !data) return no('invalid', 'it is no acknowledgement')
  // Of another size it could tell by it what the channel was not accredited for.
  const isFixed = Buffer.byteLength(message.body_text) % acknowledgement_bytes === 0 && data.padding.trim() === ''
  if (!isFixed) return no('invalid', 'it does not have the fixed size of an acknowledgement')
  const read = await readGapReceipt(data.receipt, around)
  if (isRefused(read)) return no(read.code, read.message)
  return read.peer.name === line.peer ? read.receipt : no('invalid', 'the receipt is of another peer')
}

/** By one write: some milliseconds of work. */
const most_acknowledged = 1_000

async function acknowledge(line: Line, { epoch, floor }: GapReceipt, { journal }: Surroundings): Promise<void> {
  let reached = -1
  for (;;) {
    const now = await journal.acknowledge(line.channel.out, epoch, floor, most_acknowledged)
    if (now >= floor || now === reached) return
    reached = now
  }
}

/**
 * What two acknowledgements in a row miss, and had left before the first of them was made: then it was not on its way.
 * Whether anything went out: then the next two must be waited for.
 */
async function resendMissing(
  line: Line,
  outbox: Outbox,
  before: Last,
  { epoch, missing }: GapReceipt,
  around: Surroundings,
): Promise<boolean> {
  if (before.receipt.epoch !== epoch) return false
  const runs = inBoth(before.receipt.missing, missing)
  try {
    const left = { before: before.at }
    if ((await outbox.resending.announceAgain(epoch, left)) === 'resent') return true
    if (runs.length === 0) return false
    const { resent, not_resent } = await outbox.resending.resend(epoch, runs, left)
    if (not_resent.length > 0) {
      around.log.warn('filedrop.resend.impossible', { peer: line.peer, epoch, not_resent: not_resent.slice(0, 16) })
    }
    if (resent === 0) return false
    await around.record([eventOf(line, 'filedrop.messages.resent', line.channel.out, { epoch, resent }, around)])
    return true
  } catch (error) {
    // The acknowledgement counts all the same; the next two ask again.
    around.log.warn('filedrop.resend.failed', { peer: line.peer, detail: failureText(error) })
    return false
  }
}

/** The numbers that stand in both; both rise. */
export function inBoth(one: readonly Gap[], other: readonly Gap[]): Gap[] {
  const found: Gap[] = []
  let at = 0
  for (const { first, last } of one) {
    while (at < other.length && (other[at]?.last ?? 0) < first) at += 1
    for (let next = at; next < other.length && (other[next]?.first ?? 0) <= last; next++) {
      const run = other[next] as Gap
      found.push({ first: Math.max(first, run.first), last: Math.min(last, run.last) })
    }
  }
  return found
}

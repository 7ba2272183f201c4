// Receives a peer's acknowledgements: marks proven arrivals, and resends messages that two of them report missing.
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import type { Gap } from '../../../../daemon/kernel/messaging/journal.ts'
import type { GapReceipt } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import type { DeliveryVerdict, InboundMessage } from '../../../../daemon/kernel/messaging/transport.ts'
import { readAcknowledgement } from '../checks/acknowledgement-check.ts'
import { describeFailure } from '../failure-text.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import { linkAuditEvent } from '../link/link-audit-event.ts'
import type { FiledropOutbox } from '../sending/outbox.ts'
import { readGapReceipt } from '../sending/reports/gap-receipt.ts'
import { serialQueue } from '../serial-work.ts'

export type AcknowledgementReceiver = { receive(message: InboundMessage): Promise<DeliveryVerdict> }

/** The last one that was taken; `at`: when it was made, or came, whichever is earlier. */
type LastAcknowledgement = { readonly receipt: GapReceipt; readonly at: number }

export function acknowledgementReceiver(
  link: FiledropLink,
  outbox: FiledropOutbox,
  filedrop: FiledropContext,
): AcknowledgementReceiver {
  const alone = serialQueue()
  let last: LastAcknowledgement | undefined
  let isBehind = false

  const takeNow = async (message: InboundMessage): Promise<DeliveryVerdict> => {
    const receipt = await readReceipt(message, link, filedrop)
    if ('verdict' in receipt) return receipt
    await outbox.lookForPickups()
    const acknowledged = await markAcknowledged(link, receipt, filedrop)
    const isBehindNow = receipt.floor < acknowledged
    if (isBehindNow && !isBehind) await answerSetBack(link, outbox, receipt, acknowledged, filedrop)
    isBehind = isBehindNow
    // An overtaken acknowledgement has nothing new.
    if (last && receipt.created <= last.receipt.created) return { verdict: 'applied' }
    const before = last
    last = { receipt, at: Math.min(Date.parse(receipt.created), filedrop.clock.now()) }
    if (before && (await resendMissing(link, outbox, before, receipt, filedrop))) last = undefined
    return { verdict: 'applied' }
  }
  return { receive: (message) => alone(() => takeNow(message)) }
}

async function readReceipt(
  message: InboundMessage,
  link: FiledropLink,
  filedrop: FiledropContext,
): Promise<GapReceipt | DeliveryVerdict> {
  const no = (code: string, detail: string): DeliveryVerdict => ({ verdict: 'refused', code, detail })
  if (!filedrop.isAccredited(link.peer)) return no('forbidden', `a way back from ${link.peer} is not accredited`)
  const { schema } = message.statement.body
  const body_bytes = Buffer.byteLength(message.body_text)
  const note = readAcknowledgement({ schema, data: message.body, body_bytes })
  if (isRefusal(note)) return no(note.code, note.message)
  const read = await readGapReceipt(note, filedrop)
  if (isRefusal(read)) return no(read.code, read.message)
  return read.peer.name === link.peer ? read.receipt : no('invalid', 'the receipt is of another peer')
}

/** Limit of one write, which then takes a few milliseconds. */
const max_acknowledged_per_write = 1_000

/** Resolves with the number up to which all are acknowledged, by this receipt or an earlier one. */
async function markAcknowledged(
  link: FiledropLink,
  { epoch, floor }: GapReceipt,
  { journal }: FiledropContext,
): Promise<number> {
  let reached = -1
  for (;;) {
    const now = await journal.acknowledge(link.channel.out, epoch, floor, max_acknowledged_per_write)
    if (now >= floor || now === reached) return now
    reached = now
  }
}

/** The receiver has lost what it had acknowledged, as after a restore. Only an inventory shows it what it lacks. */
async function answerSetBack(
  link: FiledropLink,
  outbox: FiledropOutbox,
  { epoch, floor }: GapReceipt,
  acknowledged: number,
  filedrop: FiledropContext,
): Promise<void> {
  filedrop.log.warn('filedrop.peer.set_back', { peer: link.peer, epoch, floor, acknowledged })
  const about = { epoch, floor, acknowledged }
  await filedrop.record([linkAuditEvent(link, 'filedrop.peer.set_back', link.channel.out, about, filedrop)])
  outbox.requestInventory()
}

/**
 * Resends messages that two successive acknowledgements report as missing. Only messages that left before the first of
 * the two was made are resent: later ones may be in transit. Returns whether any was resent; the next resend then needs
 * two new acknowledgements.
 */
async function resendMissing(
  link: FiledropLink,
  outbox: FiledropOutbox,
  before: LastAcknowledgement,
  { epoch, missing }: GapReceipt,
  filedrop: FiledropContext,
): Promise<boolean> {
  if (before.receipt.epoch !== epoch) return false
  const runs = intersectGaps(before.receipt.missing, missing)
  try {
    const left = { before: before.at }
    if ((await outbox.resender.announceAgain(epoch, left)) === 'resent') return true
    if (runs.length === 0) return false
    const { resent, not_resent } = await outbox.resender.resend(epoch, runs, left)
    if (not_resent.length > 0) {
      filedrop.log.warn('filedrop.resend.impossible', { peer: link.peer, epoch, not_resent: not_resent.slice(0, 16) })
    }
    if (resent === 0) return false
    await filedrop.record([
      linkAuditEvent(link, 'filedrop.messages.resent', link.channel.out, { epoch, resent }, filedrop),
    ])
    return true
  } catch (error) {
    // The acknowledgement still counts; the next two trigger another attempt.
    filedrop.log.warn('filedrop.resend.failed', { peer: link.peer, detail: describeFailure(error) })
    return false
  }
}

/** The numbers that stand in both; both rise. */
export function intersectGaps(one: readonly Gap[], other: readonly Gap[]): Gap[] {
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

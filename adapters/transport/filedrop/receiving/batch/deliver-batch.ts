// Delivers the messages of a batch to their handlers: commuting ones in parallel, the others one by one in order.

import type { DeliveryVerdict, InboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import type { Trace } from '../../../../../daemon/kernel/telemetry/trace.ts'
import { fileBytes, isWaived, labelledStatement, requireEstablished } from '../../checks/message-examination.ts'
import { hasReleasedLabel } from '../../checks/released-label.ts'
import { fault } from '../../quarantine-reasons.ts'
import { receiveInventory } from '../gaps/receive-inventory.ts'
import { guardFile } from '../guard-file.ts'
import { reportPaused } from '../report-paused.ts'
import { heldLimitFault } from '../scan/held-messages.ts'
import { scanBody } from '../scan-body.ts'
import type { ScanContext } from '../scan-context.ts'
import { hasEarlierAside, reserveRoom } from '../waiting/set-aside.ts'
import { arrivalOf } from './judge-batch.ts'
import type { MessageCandidate, MessageDisposition } from './message-candidate.ts'

export type IncomingMessageHandler = (message: InboundMessage, trace: Trace) => Promise<DeliveryVerdict>

/**
 * Gives each message of the batch that has no fate yet its own. `mayOvertake`: false after a failure of a message with
 * a lower number, which ordered ones must not overtake. Once a role puts one off, all behind it for this role wait too;
 * the kinds of one role never depend on those of another.
 */
export async function deliverBatch(
  batch: readonly MessageCandidate[],
  context: ScanContext,
  deliver: IncomingMessageHandler,
  mayOvertake: boolean,
): Promise<void> {
  const floors = await readFloors(batch, context)
  let isInOrder = mayOvertake
  let isOver = false
  for (const turn of splitIntoTurns(batch)) {
    await Promise.all(
      turn.map(async (candidate) => {
        if (candidate.disposition) return
        if (isOver) candidate.disposition = { is: 'deferred' }
        else if (mustWait(candidate, floors, isInOrder)) candidate.disposition = holdMessage(candidate)
        else candidate.disposition = await deliverMessage(candidate, deliver)
      }),
    )
    isInOrder &&= !turn.some(({ disposition }) => disposition?.is === 'failed')
    isOver ||= context.isStopped() || turn.some(isPaused)
  }
}

/** Nothing more of the channel can be taken in now, whichever role it is for. */
export function isPaused({ disposition }: MessageCandidate): boolean {
  return disposition?.is === 'deferred' && disposition.role === undefined
}

/** Messages that may be delivered at once: those that commute up to the next ordered one, which is delivered alone. */
function splitIntoTurns(batch: readonly MessageCandidate[]): MessageCandidate[][] {
  const turns: MessageCandidate[][] = [[]]
  for (const candidate of batch) {
    if (isUndecided(candidate) && isOrdered(candidate)) turns.push([candidate], [])
    else turns.at(-1)?.push(candidate)
  }
  return turns
}

function isUndecided({ disposition }: MessageCandidate): boolean {
  return disposition === undefined
}

/** For each epoch in the batch, the number up to which every message has arrived. */
async function readFloors(
  batch: readonly MessageCandidate[],
  { filedrop, destination }: ScanContext,
): Promise<ReadonlyMap<number, number>> {
  const floors = new Map<number, number>()
  for (const epoch of new Set(batch.map(({ item }) => item.epoch))) {
    floors.set(epoch, (await filedrop.journal.progress(destination.channel, epoch)).floor)
  }
  return floors
}

function mustWait(candidate: MessageCandidate, floors: ReadonlyMap<number, number>, isInOrder: boolean): boolean {
  const { epoch, seq } = candidate.item
  return isOrdered(candidate) && (!isInOrder || (floors.get(epoch) ?? 0) < seq)
}

function isOrdered({ examination, context }: MessageCandidate): boolean {
  return context.filedrop.kinds.isOrdered(requireEstablished(examination, 'statement').kind)
}

function holdMessage({ item, context, examination }: MessageCandidate): MessageDisposition {
  const full = heldLimitFault(item, context, examination, context.held)
  if (full) return { is: 'overflow', fault: full }
  context.held.add(item.stem)
  context.waiting.received.set(item.stem, { ...arrivalOf({ context, examination }), state: 'received', code: '' })
  return { is: 'held' }
}

async function deliverMessage(
  candidate: MessageCandidate,
  deliver: IncomingMessageHandler,
): Promise<MessageDisposition> {
  const { item, context, examination } = candidate
  const role = context.filedrop.receiverOf(requireEstablished(examination, 'statement').kind)
  const waits = context.roles.get(role)
  if (waits === 'down') return { is: 'deferred', role }
  if (waits === 'absent' || hasEarlierAside(role, item, context)) return setAside(candidate, role)
  const stopped = await scanBeforeDelivery(candidate)
  if (stopped) return stopped
  const message: InboundMessage = {
    statement: labelledStatement(examination),
    label: requireEstablished(examination, 'translated_label'),
    ...(hasReleasedLabel(examination) ? { is_label_released: true } : {}),
    body: requireEstablished(examination, 'content').data,
    signer_key_id: requireEstablished(examination, 'signers')[0]?.kid ?? '',
    envelope: fileBytes(examination.envelope).toString('utf8'),
    body_text: fileBytes(examination.body).toString('utf8'),
  }
  const contradicted = await checkInventory(candidate, message)
  if (contradicted) return contradicted
  const verdict = await guardFile(context, item.stem, () => deliver(message, context.trace))
  if (!verdict) return { is: 'failed' }
  context.filedrop.passFaultPoint('delivered')
  return followVerdict(verdict, candidate, role)
}

function followVerdict(verdict: DeliveryVerdict, candidate: MessageCandidate, role: string): MessageDisposition {
  const { context } = candidate
  if (verdict.verdict === 'later') {
    if (context.roles.get(role) !== 'down') reportPaused(context, verdict.detail, role)
    context.roles.set(role, 'down')
    return { is: 'deferred', role }
  }
  if (verdict.verdict === 'set_aside') {
    context.roles.set(role, 'absent')
    return setAside(candidate, role)
  }
  if (!context.roles.has(role)) context.roles.set(role, 'up')
  context.waiting.aside.delete(candidate.item.stem)
  if (verdict.verdict === 'applied') return { is: 'applied' }
  return { is: 'refused', fault: { reason: 'REFUSED', detail: verdict.detail, code: verdict.code } }
}

function setAside(candidate: MessageCandidate, role: string): MessageDisposition {
  const full = isWaived(candidate.examination, 'QUOTA') ? undefined : reserveRoom(candidate, role)
  return full ? { is: 'overflow', fault: full } : { is: 'set_aside', role }
}

/** The last word before the receiver's; undefined when nothing speaks against the message. */
async function scanBeforeDelivery({
  item,
  context,
  examination,
}: MessageCandidate): Promise<MessageDisposition | undefined> {
  const scanned = await guardFile(context, item.stem, () => scanBody(item.stem, examination, context))
  if (!scanned) return { is: 'failed' }
  if (scanned.answer === 'clean') return undefined
  if (scanned.answer === 'refused') return { is: 'quarantined', fault: fault('SCANNER', 'the scanner refused it') }
  reportPaused(context, scanned.detail)
  return { is: 'deferred' }
}

/** The carrier checks an inventory before its receiver, who must not act on one that is contradicted. */
async function checkInventory(
  { item, context, examination }: MessageCandidate,
  message: InboundMessage,
): Promise<MessageDisposition | undefined> {
  if (message.statement.kind !== 'inventory') return undefined
  const read = await guardFile(context, item.stem, async () => ({
    fault: await receiveInventory(message, examination, context),
  }))
  if (!read) return { is: 'failed' }
  return read.fault && { is: 'quarantined', fault: read.fault }
}

// Compares a sender's inventory with the messages that arrived: one statement per number.
import type { MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { Statement } from '../../../../../daemon/kernel/messaging/statement.ts'
import type { InboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import { readInventory } from '../../checks/inventory-check.ts'
import type { MessageExamination } from '../../checks/message-examination.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import { fault, type MessageFault } from '../../quarantine-reasons.ts'
import type { ReceiveContext } from '../scan-context.ts'

/**
 * Takes in an inventory, and returns its fault before any effect. Durable when it resolves; a repeat changes nothing. The
 * number of the inventory itself opens the gap before it.
 */
export async function receiveInventory(
  { statement, body }: InboundMessage,
  examination: MessageExamination,
  context: ReceiveContext,
): Promise<MessageFault | undefined> {
  const reading = readInventory(statement, body)
  if ('fault' in reading) return reading.fault
  const { highest, digests } = reading.inventory
  const disputed = await findContradictions(highest - digests.length + 1, digests, statement, context)
  const equivocation = disputed.length > 0 ? await disputeNumbers(disputed, statement, context) : undefined
  if (equivocation) examination.contradicted_numbers = disputed
  if (equivocation) return equivocation
  const { journal, clock } = context.filedrop
  await journal.noteInventory(context.destination.channel, statement, clock.now())
  return undefined
}

/** The numbers that arrived with another statement than the inventory names. */
async function findContradictions(
  first: number,
  digests: readonly string[],
  { epoch }: Statement,
  { filedrop, destination }: ReceiveContext,
): Promise<MessageNumber[]> {
  const numbers = digests.map((_, index) => ({ epoch, seq: first + index }))
  const entries = await filedrop.journal.entries(destination.channel, numbers)
  return entries.filter(({ seq, digest }) => digest !== digests[seq - first])
}

/** Undefined when people have opened the channel again over the same numbers: each inventory names them once more. */
async function disputeNumbers(
  numbers: readonly MessageNumber[],
  { epoch, seq }: Statement,
  context: ReceiveContext,
): Promise<MessageFault | undefined> {
  const { link, filedrop, destination, trace } = context
  const detail = `the inventory contradicts ${numbers.length} messages that the sender signed`
  const about = { epoch, seq, detail, numbers: numbers.slice(0, 16).map((each) => each.seq) }
  const event = linkAuditEvent(link, 'filedrop.channel.equivocation', destination.channel, about, filedrop, {
    outcome: 'refused',
    trace,
  })
  const outcome = await filedrop.journal.dispute(destination.channel, detail, numbers, [event])
  return outcome === 'known' ? undefined : fault('EQUIVOCATION', detail)
}

// Handles messages that an earlier scan left in `work`: those behind a gap, and those that may crash the process.

import { hasEnded } from '../../../../../daemon/kernel/messaging/ledger.ts'
import { isWaived, type MessageExamination } from '../../checks/message-examination.ts'
import {
  messageQuarantinedEvent,
  moveToQuarantine,
  quarantineMessage,
  reportQuarantined,
} from '../../quarantine/quarantine-message.ts'
import { fault, type MessageFault } from '../../quarantine-reasons.ts'
import type { ReceiveContext } from '../scan-context.ts'
import type { IncomingItem } from './incoming-files.ts'

/** Whether it goes on waiting for what was sent before it. The ledger remembers, over a restart too. */
export async function holdIfBehindGap({ stem, epoch, seq }: IncomingItem, context: ReceiveContext): Promise<boolean> {
  const { held, early, filedrop, destination } = context
  const { journal, kinds } = filedrop
  if (early.has(stem) && epoch === context.epoch + 1) return true
  early.delete(stem)
  if (!held.has(stem)) {
    const entry = await journal.entry(destination.channel, epoch, seq)
    if (entry?.state !== 'received' || !kinds.isOrdered(entry.kind)) return false
  }
  if ((await journal.progress(destination.channel, epoch)).floor >= seq) return false
  held.add(stem)
  return true
}

/**
 * Why one more cannot wait; people may let it. `waiting`: those that wait for the same, a gap or an epoch; neither takes the
 * room of the other.
 */
export function heldLimitFault(
  { stem }: IncomingItem,
  { filedrop }: ReceiveContext,
  examination: MessageExamination,
  waiting: { readonly size: number; has(stem: string): boolean },
): MessageFault | undefined {
  const { max_held } = filedrop.settings
  if (waiting.has(stem) || waiting.size < max_held || isWaived(examination, 'QUOTA')) return undefined
  return fault('QUOTA', `${max_held} messages wait for missing ones already`)
}

/**
 * A file found in `work` was there when a process died or a step threw: that attempt is counted now, before it is
 * opened again. So a message costs no write for the attempts that go well. Puts it away when there were too many.
 */
export async function quarantineIfPoison(item: IncomingItem, context: ReceiveContext): Promise<boolean> {
  const { journal, settings } = context.filedrop
  const { epoch, seq } = item
  const entry = await journal.entry(context.destination.channel, epoch, seq)
  // Only its files are left to move: whatever hinders that is not the message.
  if (entry && hasEnded(entry)) return false
  const failed = await journal.countFailure(context.destination.channel, epoch, seq)
  if (failed < settings.max_attempts) return false
  const why = fault('POISON', `${failed} attempts ended in a crash or an exception`)
  if (entry?.state !== 'received' && entry?.state !== 'set_aside') {
    await quarantineMessage(item, why, context)
    return true
  }
  const audit = [messageQuarantinedEvent(item, why, context)]
  await journal.recordOutcomes(context.destination.channel, [
    { epoch, seq, state: 'quarantined', code: why.reason, audit },
  ])
  reportQuarantined(item.stem, why, context)
  await moveToQuarantine(item, why, context)
  return true
}

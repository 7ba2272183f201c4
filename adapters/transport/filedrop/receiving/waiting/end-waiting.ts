// Ends messages that wait: those whose time is over, and those that a person discards.

import { readMessageFiles } from '../../checks/message-examination.ts'
import { messageName, partFileName, partPath } from '../../files/message-name.ts'
import {
  messageQuarantinedEvent,
  moveToQuarantine,
  recordQuarantined,
  reportQuarantined,
} from '../../quarantine/quarantine-message.ts'
import { fault, type MessageFault } from '../../quarantine-reasons.ts'
import { guardFile } from '../guard-file.ts'
import type { IncomingItem } from '../scan/incoming-files.ts'
import { type ScanContext, withTrace } from '../scan-context.ts'
import type { EarlyMessage } from './waiting-messages.ts'

/** A message in `work`, and what it waits for: a missing number, the announcement of its epoch, or a role. */
export type PendingMessage = {
  readonly stem: string
  readonly entry: EarlyMessage
  readonly waits_for: 'number' | 'epoch' | 'role'
  readonly role?: string
}

/** Lowest first. */
export function listPending({
  waiting,
  held,
  early,
}: Pick<ScanContext, 'waiting' | 'held' | 'early'>): PendingMessage[] {
  const found: PendingMessage[] = []
  for (const [stem, entry] of waiting.received) if (held.has(stem)) found.push({ stem, entry, waits_for: 'number' })
  for (const [stem, entry] of early) found.push({ stem, entry, waits_for: 'epoch' })
  for (const [stem, entry] of waiting.aside) found.push({ stem, entry, waits_for: 'role', role: entry.role })
  return found.sort((a, b) => (a.stem < b.stem ? -1 : 1))
}

/**
 * After the scan has tried them all: what was fresh when it came, and can be applied now, is. A message that people have
 * released is theirs to end.
 */
export async function expireWaiting(context: ScanContext): Promise<void> {
  const { filedrop, waivers } = context
  const { trusted_clock, skew_ms } = filedrop.settings
  if (!trusted_clock) return
  const now = filedrop.clock.now()
  for (const each of listPending(context)) {
    if (context.isStopped()) return
    if (now <= each.entry.not_after + skew_ms || waivers.has(each.stem)) continue
    await endWaiting(
      each,
      fault('EXPIRED', `it expired while it waited for ${await describeCause(each, context)}`),
      context,
    )
  }
}

async function describeCause(
  { entry, waits_for, role }: PendingMessage,
  { filedrop, destination }: ScanContext,
): Promise<string> {
  if (waits_for === 'role') return `role ${role}, which this site does not run`
  if (waits_for === 'epoch') return `the announcement of epoch ${entry.epoch}`
  const { floor } = await filedrop.journal.progress(destination.channel, entry.epoch)
  return `number ${floor + 1}, which is missing`
}

/** The number of a message that the ledger has counts as arrived; that of one without an open epoch stays free. */
export async function endWaiting(
  { stem, entry, waits_for }: PendingMessage,
  why: MessageFault,
  scanContext: ScanContext,
): Promise<void> {
  const context = withTrace(scanContext)
  const { epoch, seq } = messageName(entry.epoch, entry.seq)
  const item: IncomingItem = { stem, epoch, seq, env: 'work', body: 'work' }
  const { work } = context.link.folders
  const paths = { env: partPath(work, stem, 'env'), body: partPath(work, stem, 'body') }
  const files = readMessageFiles(partFileName(stem, 'env'), paths, context.filedrop.settings)
  const examination = { ...files, digest: entry.digest, arrival: entry }
  if (waits_for === 'epoch') await recordQuarantined([{ item, why, context, examination }], context)
  else {
    const audit = [messageQuarantinedEvent(item, why, context, examination)]
    const outcome = { epoch, seq, state: 'quarantined' as const, code: why.code ?? why.reason, audit }
    await context.filedrop.journal.recordOutcomes(context.destination.channel, [outcome])
    reportQuarantined(stem, why, context)
  }
  await guardFile(context, stem, () => moveToQuarantine(item, why, context, examination))
  context.held.delete(stem)
  context.early.delete(stem)
  context.deferred.delete(stem)
  context.waiting.received.delete(stem)
  context.waiting.aside.delete(stem)
}

// Receives a batch of messages in steps that can each be repeated after a crash: receive, deliver, record, move.
import type { ArrivalOutcome } from '../../../../../daemon/kernel/messaging/ledger.ts'
import { broken_successor } from '../../checks/sequence-check.ts'
import { messageName } from '../../files/message-name.ts'
import {
  messageQuarantinedEvent,
  type QuarantineDecision,
  quarantinedEvent,
  recordQuarantined,
  reportQuarantined,
} from '../../quarantine/quarantine-message.ts'
import { fault } from '../../quarantine-reasons.ts'
import { guardFile } from '../guard-file.ts'
import type { ScanContext } from '../scan-context.ts'
import { recordSetAside } from '../waiting/set-aside.ts'
import { appliedEvent } from './applied-event.ts'
import { deliverBatch, type IncomingMessageHandler, isPaused } from './deliver-batch.ts'
import { openAnnouncedEpochs } from './epoch-announcement.ts'
import { arrivalOf, isEquivocation, judgeBatch } from './judge-batch.ts'
import type { MessageCandidate } from './message-candidate.ts'
import { placeFiles } from './place-files.ts'

/** `end`: nothing more can be taken in now. `hasFailed`: ordered messages with higher numbers must not overtake. */
export type BatchResult = { readonly end: boolean; readonly hasFailed: boolean }

/**
 * Verified messages, in the order of their numbers, with one commit for all before they are delivered, and one after. Throws when the
 * journal fails: then all of them lie in `work`, and are tried again.
 */
export async function receiveBatch(
  batch: readonly MessageCandidate[],
  context: ScanContext,
  deliver: IncomingMessageHandler,
  mayOvertake: boolean,
): Promise<BatchResult> {
  await judgeBatch(batch, context)
  await openAnnouncedEpochs(batch, context)
  await recordReceived(batch, context)
  await endBrokenSuccessors(batch, context)
  await deliverBatch(batch, context, deliver, mayOvertake)
  await recordSettled(batch, context)
  await recordSetAside(batch, context)
  await recordOverflow(batch, context)
  await recordUnsettled(batch, context)
  context.noteActivity(batch)
  for (const candidate of batch) {
    const { stem } = candidate.item
    const place = () => placeFiles(candidate)
    await guardFile(candidate.context, stem, place, () => context.deferred.add(stem))
  }
  return {
    end: batch.some((each) => isPaused(each) || isEquivocation(each)),
    hasFailed: batch.some(({ disposition }) => disposition?.is === 'failed'),
  }
}

/** Includes messages that are not applied, so that their numbers count as arrived and open no gap. */
async function recordReceived(
  batch: readonly MessageCandidate[],
  { filedrop, destination }: ScanContext,
): Promise<void> {
  const arrivals = batch.filter(({ disposition }) => !disposition || disposition.is === 'quarantined').map(arrivalOf)
  if (arrivals.length > 0) await filedrop.journal.receive(destination.channel, arrivals)
  if (arrivals.length > 0) filedrop.passFaultPoint('received')
}

/** A message that waits, and names another predecessor than the one that has arrived, does not wait any longer. */
async function endBrokenSuccessors(batch: readonly MessageCandidate[], context: ScanContext): Promise<void> {
  const outcomes = batch.flatMap(({ examination, disposition, context: own }): ArrivalOutcome[] => {
    const after = examination.broken_successor
    if (!after || disposition?.is === 'rejected') return []
    const { epoch, seq } = after
    const { stem } = messageName(epoch, seq)
    const why = fault('CHAIN_BREAK', broken_successor)
    // The scan finds its files in `work`, with an outcome, and moves them.
    context.held.delete(stem)
    context.waiting.aside.delete(stem)
    context.deferred.add(stem)
    reportQuarantined(stem, why, own)
    const about = { peer: own.link.peer, channel: own.destination.channel, epoch, seq, statement_digest: after.digest }
    return [{ epoch, seq, state: 'quarantined', code: why.reason, audit: [quarantinedEvent(stem, why, about, own)] }]
  })
  if (outcomes.length > 0) await context.filedrop.journal.recordOutcomes(context.destination.channel, outcomes)
}

async function recordSettled(
  batch: readonly MessageCandidate[],
  { filedrop, destination }: ScanContext,
): Promise<void> {
  const settlements = batch.flatMap((candidate) => toSettlement(candidate) ?? [])
  if (settlements.length > 0) await filedrop.journal.recordOutcomes(destination.channel, settlements)
  if (settlements.length > 0) filedrop.passFaultPoint('applied')
}

function toSettlement(candidate: MessageCandidate): ArrivalOutcome | undefined {
  const { disposition, item, context, examination } = candidate
  const { epoch, seq } = item
  if (disposition?.is === 'applied')
    return { epoch, seq, state: disposition.is, code: '', audit: [appliedEvent(examination, context)] }
  if (disposition?.is !== 'refused' && disposition?.is !== 'quarantined') return undefined
  const { fault } = disposition
  const audit = [messageQuarantinedEvent(item, fault, context, examination)]
  return { epoch, seq, state: disposition.is, code: fault.code ?? fault.reason, audit }
}

/** Missing from now on: inventories and receipts list the numbers, and the same bytes are taken when they come again. */
async function recordOverflow(batch: readonly MessageCandidate[], context: ScanContext): Promise<void> {
  const full = decisionsOf(batch, 'overflow')
  if (full.length === 0) return
  await recordQuarantined(full, context)
  await context.filedrop.journal.markLost(
    context.destination.channel,
    full.map(({ item }) => item),
    [],
  )
}

function decisionsOf(batch: readonly MessageCandidate[], kind: 'overflow' | 'rejected'): QuarantineDecision[] {
  return batch.flatMap(({ item, disposition, context, examination }) =>
    disposition?.is === kind ? [{ item, why: disposition.fault, context, examination }] : [],
  )
}

/** Reports rejected messages, duplicates and others that add nothing to the ledger. */
async function recordUnsettled(batch: readonly MessageCandidate[], context: ScanContext): Promise<void> {
  const { filedrop, destination } = context
  for (const { disposition, examination, context: own } of batch.filter(isEquivocation)) {
    // An inventory has frozen the channel itself.
    if (disposition?.is === 'rejected') await context.freeze(disposition.fault.detail, examination, own.trace)
  }
  await recordQuarantined(decisionsOf(batch, 'rejected'), context)
  const isRepeat = ({ disposition, wasInWork }: MessageCandidate) =>
    disposition?.is === 'duplicate' || (disposition?.is === 'settled' && !wasInWork)
  const duplicates = batch.filter(isRepeat).length
  if (duplicates > 0) await filedrop.journal.countDuplicates(destination.channel, duplicates)
  for (const { disposition, isSuspect, item } of batch) {
    const isInnocent = disposition?.is === 'held' || disposition?.is === 'deferred' || disposition?.is === 'set_aside'
    if (isSuspect && isInnocent) await filedrop.journal.clearFailures(destination.channel, item.epoch, item.seq)
  }
}

// A batch of messages on its way in, by steps that may each be repeated after a crash: received, taken, settled, moved.
import type { Settlement } from '../../../../daemon/kernel/journal.ts'
import { guarded } from '../accident.ts'
import { openAnnounced } from './announcement.ts'
import type { Candidate } from './candidate.ts'
import { type Deliver, deliverAll } from './delivering.ts'
import { appliedEvent, closingEvent, type ScanDesk } from './fate.ts'
import { arrivalOf, isEquivocation, judgeAll } from './judging.ts'
import { putInPlace } from './placing.ts'

/** `end`: nothing more can be taken in now. `hasFailed`: ordered messages with higher numbers must not overtake. */
export type Taken = { readonly end: boolean; readonly hasFailed: boolean }

/**
 * Verified messages, in the order of their numbers, with one commit for all before they are delivered, and one after. Throws when the
 * journal fails: then all of them lie in `work`, and are tried again.
 */
export async function takeIn(
  batch: readonly Candidate[],
  desk: ScanDesk,
  deliver: Deliver,
  mayOvertake: boolean,
): Promise<Taken> {
  await judgeAll(batch, desk)
  await openAnnounced(batch, desk)
  await enterReceived(batch, desk)
  await deliverAll(batch, desk, deliver, mayOvertake)
  await enterSettled(batch, desk)
  await enterOthers(batch, desk)
  desk.heard(batch)
  for (const candidate of batch) {
    const { stem } = candidate.item
    const place = () => putInPlace(candidate)
    await guarded(candidate.desk, stem, place, () => desk.deferred.add(stem))
  }
  return {
    end: batch.some((each) => each.fate?.is === 'deferred' || isEquivocation(each)),
    hasFailed: batch.some(({ fate }) => fate?.is === 'failed'),
  }
}

/** Also what is not to be applied, so that its number counts as arrived and is no gap. */
async function enterReceived(batch: readonly Candidate[], { around, place }: ScanDesk): Promise<void> {
  const arrivals = batch.filter(({ fate }) => !fate || fate.is === 'quarantined').map(arrivalOf)
  if (arrivals.length > 0) await around.journal.receive(place.channel, arrivals)
  if (arrivals.length > 0) around.reached('received')
}

async function enterSettled(batch: readonly Candidate[], { around, place }: ScanDesk): Promise<void> {
  const settlements = batch.flatMap((candidate) => settlementOf(candidate) ?? [])
  if (settlements.length > 0) await around.journal.settle(place.channel, settlements)
  if (settlements.length > 0) around.reached('applied')
}

function settlementOf(candidate: Candidate): Settlement | undefined {
  const { fate, item, desk, specimen } = candidate
  const { epoch, seq } = item
  if (fate?.is === 'applied') return { epoch, seq, state: fate.is, code: '', audit: [appliedEvent(specimen, desk)] }
  if (fate?.is !== 'refused' && fate?.is !== 'quarantined') return undefined
  const { fault } = fate
  const audit = [closingEvent(item, fault, desk, specimen)]
  return { epoch, seq, state: fate.is, code: fault.code ?? fault.reason, audit }
}

/** What is told of messages that the ledger learns nothing new of. */
async function enterOthers(batch: readonly Candidate[], desk: ScanDesk): Promise<void> {
  const { around, place } = desk
  for (const { fate, specimen, desk: own } of batch.filter(isEquivocation)) {
    // An inventory has frozen the channel itself.
    if (fate?.is === 'rejected') await desk.freeze(fate.fault.detail, specimen, own.trace)
  }
  const rejected = batch.flatMap(({ item, fate, desk: own, specimen }) =>
    fate?.is === 'rejected' ? [closingEvent(item, fate.fault, own, specimen)] : [],
  )
  if (rejected.length > 0) await around.record(rejected)
  const duplicates = batch.filter(({ fate, wasInWork }) => fate?.is === 'settled' && !wasInWork).length
  if (duplicates > 0) await around.journal.duplicate(place.channel, duplicates)
  for (const { fate, isSuspect, item } of batch) {
    const isInnocent = fate?.is === 'held' || fate?.is === 'deferred'
    if (isSuspect && isInnocent) await around.journal.forgive(place.channel, item.epoch, item.seq)
  }
}

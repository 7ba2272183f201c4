// Judges the messages of a batch: verifies all signatures in parallel, then checks each message in sequence order.
import { setImmediate as pause } from 'node:timers/promises'
import type { MessageArrival } from '../../../../../daemon/kernel/messaging/ledger.ts'
import { type SliceRunner, sliceRunner } from '../../../../../daemon/kernel/role/run-in-slices.ts'
import { endOfValidity } from '../../checks/destination-checks.ts'
import { judgeMessage, type MessageJudgement, verifyMessage } from '../../checks/message-checks.ts'
import { type MessageExamination, requireEstablished } from '../../checks/message-examination.ts'
import { findPurgeOrder } from '../../quarantine/purge-orders.ts'
import type { MessageFault } from '../../quarantine-reasons.ts'
import { guardFile } from '../guard-file.ts'
import { heldLimitFault } from '../scan/held-messages.ts'
import type { ScanContext } from '../scan-context.ts'
import { type BatchLedger, readBatchLedger } from './batch-ledger.ts'
import { readAnnouncement } from './epoch-announcement.ts'
import type { MessageCandidate, MessageDisposition } from './message-candidate.ts'

export async function verifyBatch(batch: readonly MessageCandidate[]): Promise<void> {
  await Promise.all(
    batch.map(async (candidate) => {
      const { examination, context, item } = candidate
      const done = await guardFile(context, item.stem, async () => {
        const fault = await verifyMessage(examination, context.trust)
        if (!fault) await readAnnouncement(examination, context)
        return { fault }
      })
      if (!done) candidate.disposition = { is: 'failed' }
      else if (done.fault) candidate.disposition = { is: 'rejected', fault: done.fault }
    }),
  )
}

/** Each is judged as if the ones before it had been taken in alone; an equivocation leaves those behind it alone. */
export async function judgeBatch(batch: readonly MessageCandidate[], context: ScanContext): Promise<void> {
  const verified = batch.filter(({ disposition }) => !disposition)
  const numbers = verified.map(({ item }) => item)
  const ledger = await readBatchLedger(context.filedrop, context.destination.channel, context.epoch, numbers)
  const runSliced = sliceRunner({ monotonic: context.filedrop.clock.monotonic, pause })
  let isFrozen = false
  const orders = await context.filedrop.purges.all()
  for (const candidate of batch) {
    if (isFrozen) candidate.disposition = { is: 'deferred' }
    else await judgeCandidate(candidate, ledger, runSliced)
    isFrozen ||= isEquivocation(candidate)
    if (!candidate.item.is_copy) refusePurged(candidate, findPurgeOrder(candidate.examination, orders))
  }
}

/** Its number counts as arrived where it is proven to be the message of that number. */
function refusePurged(candidate: MessageCandidate, order: string | undefined): void {
  if (order === undefined || candidate.disposition?.is === 'deferred') return
  candidate.purge_order = order
  const fault: MessageFault = {
    ...{ reason: 'REFUSED', code: 'purged', detail: 'its body was purged from this site, and is not taken again' },
  }
  if (candidate.disposition?.is === 'held') candidate.disposition = { is: 'rejected', fault }
  candidate.disposition ??= { is: 'quarantined', fault }
}

async function judgeCandidate(candidate: MessageCandidate, ledger: BatchLedger, runSliced: SliceRunner): Promise<void> {
  if (candidate.disposition) return
  const { examination, context } = candidate
  const finding = await judgeMessage(examination, context.destination, ledger, runSliced)
  if (candidate.item.is_copy) {
    candidate.disposition = judgeCopy(finding, examination)
    return
  }
  candidate.disposition = finding.found === 'early' ? holdEarly(candidate) : dispositionOf(finding)
  if (finding.found === 'sound' && isTooLate(candidate, ledger))
    candidate.disposition = { is: 'quarantined', fault: too_late }
  if (finding.found === 'sound' || (finding.found === 'fault' && finding.isProven)) ledger.enter(arrivalOf(candidate))
}

/** Only what differs from the message in `work` is judged by itself. */
function judgeCopy(finding: MessageJudgement, { entry }: MessageExamination): MessageDisposition {
  if (finding.found === 'settled') return { is: 'settled' }
  if (finding.found === 'fault' && !finding.isProven) return { is: 'rejected', fault: finding.fault }
  return { is: entry ? 'duplicate' : 'left' }
}

/** Messages with higher numbers were applied since its number was given up. */
function isTooLate({ item, examination }: MessageCandidate, ledger: BatchLedger): boolean {
  return ledger.isOrdered(requireEstablished(examination, 'statement').kind) && ledger.isSkipped(item)
}

const too_late: MessageFault = {
  ...{
    reason: 'REFUSED',
    code: 'skipped',
    detail: 'its number was given up by an operator, and later ones were applied',
  },
}

/** Without an entry in the ledger: the holder of a message key alone must not use numbers of an epoch before it is open. */
function holdEarly({ item, context, examination }: MessageCandidate): MessageDisposition {
  const full = heldLimitFault(item, context, examination, context.early)
  if (full) return { is: 'rejected', fault: full }
  if (!context.early.has(item.stem)) context.early.set(item.stem, arrivalOf({ context, examination }))
  return { is: 'held' }
}

function dispositionOf(finding: Exclude<MessageJudgement, { found: 'early' }>): MessageDisposition | undefined {
  if (finding.found === 'sound') return undefined
  if (finding.found === 'settled') return { is: 'settled' }
  return { is: finding.isProven ? 'quarantined' : 'rejected', fault: finding.fault }
}

/** Also of an inventory, which was signed for as it is, and contradicts what came before. */
export function isEquivocation({ disposition }: MessageCandidate): boolean {
  return disposition !== undefined && 'fault' in disposition && disposition.fault.reason === 'EQUIVOCATION'
}

export function arrivalOf({ examination, context }: Pick<MessageCandidate, 'examination' | 'context'>): MessageArrival {
  const { epoch, seq, prev, msg_id, kind } = requireEstablished(examination, 'statement')
  return {
    epoch,
    seq,
    digest: requireEstablished(examination, 'digest'),
    prev,
    msg_id,
    kind,
    at: context.filedrop.clock.now(),
    not_after: endOfValidity(examination, context.destination),
  }
}

// Checks the number against earlier arrivals: no second message under one number, no leap, no broken chain.

import type { LedgerEntry } from '../../../../daemon/kernel/messaging/ledger.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import type { BatchLedger } from '../receiving/batch/batch-ledger.ts'
import { max_sequence_jump } from '../settings.ts'
import type { MessageDestination } from './message-checks.ts'
import { isWaived, type MessageExamination, requireEstablished } from './message-examination.ts'

/** `prev` of the first message of an epoch. */
export const no_predecessor = '0'.repeat(96)

export function sequenceCheck(
  examination: MessageExamination,
  _place: MessageDestination,
  ledger: BatchLedger,
): MessageFault | undefined {
  const { epoch, seq } = requireEstablished(examination, 'statement')
  const entry = ledger.entry(epoch, seq)
  if (entry && entry.digest !== examination.digest) {
    return fault('EQUIVOCATION', 'the sender signed two different messages under one number')
  }
  if (entry) {
    examination.entry = entry
    return entry.state === 'lost' ? chainFault(examination, ledger) : undefined
  }
  const leap = isWaived(examination, 'FAST_FORWARD') ? undefined : leapFault(examination, ledger)
  return leap ?? chainFault(examination, ledger)
}

function leapFault(examination: MessageExamination, ledger: BatchLedger): MessageFault | undefined {
  const { epoch, seq } = requireEstablished(examination, 'statement')
  if (epoch > ledger.epoch) return epochFault(examination, ledger)
  const leap = seq - ledger.highest(epoch)
  return leap > max_sequence_jump ? fault('FAST_FORWARD', `it skips ${leap - 1} messages`) : undefined
}

/** A message that has overtaken the announcement of its epoch waits for it, and is not entered in the ledger. */
function epochFault(examination: MessageExamination, ledger: BatchLedger): MessageFault | undefined {
  const { announcement } = examination
  if (announcement) return 'fault' in announcement ? announcement.fault : undefined
  const { epoch, seq } = requireEstablished(examination, 'statement')
  if (epoch > ledger.epoch + 1 || seq === 1) return fault('FAST_FORWARD', 'its epoch was not announced')
  examination.isEarly = true
  return undefined
}

export const broken_successor = 'it does not follow the message before it, which arrived later'

/**
 * A link is judged only when both its ends are there: a gap proves nothing. The message that names the other one is the one
 * that is wrong; where it had its effect already, the later arrival is refused.
 */
function chainFault(examination: MessageExamination, ledger: BatchLedger): MessageFault | undefined {
  const { epoch, seq, prev } = requireEstablished(examination, 'statement')
  const before = seq === 1 ? no_predecessor : ledger.entry(epoch, seq - 1)?.digest
  const broken = findPredecessorFault(prev, before)
  if (broken) return broken
  const after = ledger.entry(epoch, seq + 1)
  if (!after || after.prev === examination.digest || after.state === 'lost') return undefined
  if (!hadNoEffect(after, ledger)) return fault('CHAIN_BREAK', 'the message after it follows another one')
  examination.broken_successor = after
  return undefined
}

/** `before`: the digest of the message before it; undefined where that is not there. */
export function findPredecessorFault(prev: string, before: string | undefined): MessageFault | undefined {
  if (before === undefined || before === prev) return undefined
  return fault('CHAIN_BREAK', 'it does not follow the message before it')
}

/** With this message missing, an ordered one after it was not delivered. */
function hadNoEffect({ state, kind }: LedgerEntry, { isOrdered }: BatchLedger): boolean {
  return state === 'set_aside' || (state === 'received' && isOrdered(kind))
}

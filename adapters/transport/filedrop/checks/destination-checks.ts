// Checks that the message is for this site and this channel, and that it is neither expired nor from the future.

import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import { day_ms } from '../day-length.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import type { BatchLedger } from '../receiving/batch/batch-ledger.ts'
import type { MessageDestination } from './message-checks.ts'
import { isWaived, type MessageExamination, requireEstablished } from './message-examination.ts'

export function destinationCheck(
  examination: MessageExamination,
  destination: MessageDestination,
): MessageFault | undefined {
  const { dst, receiver_tenant_id } = requireEstablished(examination, 'statement')
  if (dst !== destination.site) return fault('WRONG_DST', 'it is for another site')
  if (receiver_tenant_id !== destination.tenant_id) return fault('WRONG_DST', 'it is for another tenant')
  return undefined
}

export function channelCheck(
  examination: MessageExamination,
  destination: Pick<MessageDestination, 'channel'> & { readonly peer: Pick<Peer, 'name' | 'tenant_id'> },
): MessageFault | undefined {
  const { channel, src, sender_tenant_id } = requireEstablished(examination, 'statement')
  if (channel !== destination.channel) return fault('WRONG_CHANNEL', 'it was sent on another channel')
  if (src !== destination.peer.name) return fault('WRONG_CHANNEL', 'it is from another site')
  if (sender_tenant_id !== destination.peer.tenant_id) return fault('WRONG_CHANNEL', 'it is from another tenant')
  return undefined
}

/** A message that was fresh when it arrived stays so: downtime of this site makes nothing expire. */
export function freshnessCheck(
  examination: MessageExamination,
  destination: MessageDestination,
  ledger: BatchLedger,
): MessageFault | undefined {
  if (!destination.trusted_clock || !staleness(examination, destination, destination.now)) return undefined
  const { epoch, seq } = requireEstablished(examination, 'statement')
  const entry = ledger.entry(epoch, seq)
  const arrived = entry?.digest === examination.digest ? entry?.at : undefined
  const stale = staleness(examination, destination, arrived ?? destination.now)
  return stale && isWaived(examination, stale.reason) ? undefined : stale
}

/** In epoch milliseconds. The sender may grant less time than enrolment does, never more. */
export function endOfValidity(examination: MessageExamination, { peer }: Pick<MessageDestination, 'peer'>): number {
  const { created, not_after } = requireEstablished(examination, 'statement')
  return Math.min(Date.parse(not_after), Date.parse(created) + peer.not_after_days * day_ms)
}

function staleness(
  examination: MessageExamination,
  destination: MessageDestination,
  at: number,
): MessageFault | undefined {
  const { skew_ms } = destination
  const made = Date.parse(requireEstablished(examination, 'statement').created)
  if (made > at + skew_ms) return fault('FUTURE', 'it was made in the future')
  if (at > endOfValidity(examination, destination) + skew_ms) return fault('EXPIRED', 'it has expired')
  return undefined
}

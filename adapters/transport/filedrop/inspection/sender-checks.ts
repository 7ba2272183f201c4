// The parts of a destination's checks that need no destination: what a statement says of its sender and of the first number.
import { channelCheck } from '../checks/destination-checks.ts'
import type { MessageCheck } from '../checks/message-checks.ts'
import { type MessageExamination, requireEstablished } from '../checks/message-examination.ts'
import { findPredecessorFault, no_predecessor } from '../checks/sequence-check.ts'
import { channelName } from '../files/channel-folders.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import type { OfflineTrust } from './control-checks.ts'

/** By the name of the check. */
export const senderChecks: Readonly<
  Record<MessageCheck['name'], (of: MessageExamination, trust: OfflineTrust) => MessageFault | undefined>
> = { channel: checkSender, sequence: checkFirstNumber }

/** Keys alone do not say whose they are; a key set does, and no site may send in the name of another. */
function checkSender(of: MessageExamination, { key_set }: OfflineTrust): MessageFault | undefined {
  const { src, dst, sender_tenant_id } = requireEstablished(of, 'statement')
  const { site: name, tenant_id } = key_set ?? { site: src, tenant_id: sender_tenant_id }
  return channelCheck(of, { channel: channelName(src, dst), peer: { name, tenant_id } })
}

function checkFirstNumber(of: MessageExamination): MessageFault | undefined {
  const { seq, prev } = requireEstablished(of, 'statement')
  return findPredecessorFault(prev, seq === 1 ? no_predecessor : undefined)
}

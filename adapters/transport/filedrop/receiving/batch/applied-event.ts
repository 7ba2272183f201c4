// The audit event of a message that the site has applied.
import type { AuditEvent } from '../../../../../daemon/kernel/audit/audit-chain.ts'
import { type MessageExamination, requireEstablished } from '../../checks/message-examination.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import type { ReceiveContext } from '../scan-context.ts'

export function appliedEvent(
  examination: MessageExamination,
  { link, filedrop, destination, trace }: ReceiveContext,
): AuditEvent {
  const { epoch, seq, kind, msg_id } = requireEstablished(examination, 'statement')
  const label = requireEstablished(examination, 'translated_label')
  const waived = examination.waiver ? { waived: examination.waiver.reason } : {}
  const about = {
    channel: destination.channel,
    digest: requireEstablished(examination, 'digest'),
    epoch,
    kind,
    seq,
    ...waived,
  }
  return linkAuditEvent(link, 'filedrop.message.applied', msg_id, about, filedrop, { label, trace })
}

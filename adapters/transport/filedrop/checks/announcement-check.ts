// Checks that an epoch announcement stands at its only valid number and that root keys signed it.
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { type MessageExamination, requireEstablished } from './message-examination.ts'

/** Of a message whose content is read: also one of an epoch that was open before must announce nothing false. */
export function announcementFault(examination: MessageExamination): MessageFault | undefined {
  const { kind, seq } = requireEstablished(examination, 'statement')
  if (kind !== 'keys' || !('epoch' in requireEstablished(examination, 'content').data)) return undefined
  if (seq !== 1) return fault('SCHEMA', 'an epoch is announced by its first message alone')
  const { announcement } = examination
  return announcement && 'fault' in announcement ? announcement.fault : undefined
}

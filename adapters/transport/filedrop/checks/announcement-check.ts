// Checks that an epoch announcement stands at its only valid number and that root keys signed it.
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { type MessageExamination, requireEstablished } from './message-examination.ts'

/** Checks a message with an announcement: only the first message of an epoch may announce it. Other messages pass. */
export function announcementFault(examination: MessageExamination): MessageFault | undefined {
  const { kind, seq } = requireEstablished(examination, 'statement')
  if (kind !== 'keys' || !('epoch' in requireEstablished(examination, 'content').data)) return undefined
  if (seq !== 1) return fault('SCHEMA', 'an epoch is announced by its first message alone')
  const { announcement } = examination
  return announcement && 'fault' in announcement ? announcement.fault : undefined
}

// Reads and judges an epoch announcement: signed by the sender's root keys, at its only valid number, for this channel.
import * as z from 'zod'
import { type Jws, jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { epochAnnouncement, keys_schema } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { shapeFault } from './file-checks.ts'
import type { SenderTrust } from './message-checks.ts'
import { type AnnouncementOutcome, type MessageExamination, requireEstablished } from './message-examination.ts'
import { readMessageJson } from './message-json.ts'
import { signersFault } from './signature-checks.ts'

/** Checks a message with an announcement: only the first message of an epoch may announce it. Other messages pass. */
export function announcementFault(examination: MessageExamination): MessageFault | undefined {
  const { kind, seq } = requireEstablished(examination, 'statement')
  if (kind !== 'keys' || !('epoch' in requireEstablished(examination, 'content').data)) return undefined
  if (seq !== 1) return fault('SCHEMA', 'an epoch is announced by its first message alone')
  const { announcement } = examination
  return announcement && 'fault' in announcement ? announcement.fault : undefined
}

const announcementData = z.strictObject({ epoch: jws })

/** The outcome of the announcement in a message whose content is established; undefined for a message without one. */
export async function judgeAnnouncement(
  examination: MessageExamination,
  trust: SenderTrust,
): Promise<AnnouncementOutcome | undefined> {
  const { kind, seq, body } = requireEstablished(examination, 'statement')
  const { data } = requireEstablished(examination, 'content')
  if (kind !== 'keys' || seq !== 1 || body.schema !== keys_schema || !('epoch' in data)) return undefined
  const note = announcementData.safeParse(data)
  if (note.error) return { fault: shapeFault('the announcement', note.error, 'SCHEMA') }
  return await verifyAnnouncement(note.data.epoch, examination, trust)
}

/** Root keys alone count, however many message keys have signed: those are what an epoch may be opened to leave behind. */
async function verifyAnnouncement(
  note: Jws,
  examination: MessageExamination,
  { signatures, pinned, root_threshold: threshold }: SenderTrust,
): Promise<AnnouncementOutcome> {
  const roots = pinned.filter(({ use }) => use === 'root')
  const verified = await signatures.verify('epoch', note, roots)
  const unsigned = signersFault(verified, { threshold, use: 'root' })
  if (unsigned || typeof verified === 'string') return { fault: unsigned ?? fault('BAD_SIG', 'it is not signed') }
  const read = readMessageJson(Buffer.from(verified.payload))
  const parsed = epochAnnouncement.safeParse(read.outcome === 'value' ? read.value : undefined)
  if (parsed.error) return { fault: shapeFault('the announcement', parsed.error, 'SCHEMA') }
  const announcement = parsed.data
  const late = signersFault(verified, { threshold, use: 'root', made: announcement.created })
  if (late) return { fault: late }
  const { channel, src, dst, epoch } = requireEstablished(examination, 'statement')
  if (announcement.dst !== dst) return { fault: fault('WRONG_DST', 'it announces an epoch to another site') }
  if (announcement.channel !== channel || announcement.src !== src) {
    return { fault: fault('WRONG_CHANNEL', 'it announces an epoch of another channel') }
  }
  if (announcement.epoch !== epoch) return { fault: fault('SCHEMA', `it announces epoch ${announcement.epoch}`) }
  return { verified: announcement }
}

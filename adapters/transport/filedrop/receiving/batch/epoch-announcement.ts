// Reads the first message of an epoch: a note signed by the sender's root keys, the only way to open an epoch.
import * as z from 'zod'
import type { AuditEvent } from '../../../../../daemon/kernel/audit/audit-chain.ts'
import { type Jws, jws } from '../../../../../daemon/kernel/cryptography/signatures.ts'
import { epochAnnouncement, keys_schema } from '../../../../../daemon/kernel/messaging/one-way-control.ts'
import { contentCheck, digestCheck } from '../../checks/content-checks.ts'
import { shapeFault } from '../../checks/file-checks.ts'
import {
  type AnnouncementOutcome,
  type MessageExamination,
  requireEstablished,
} from '../../checks/message-examination.ts'
import { readMessageJson } from '../../checks/message-json.ts'
import { signersFault } from '../../checks/signature-checks.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import { fault } from '../../quarantine-reasons.ts'
import type { ReceiveContext, ScanContext } from '../scan-context.ts'
import type { MessageCandidate } from './message-candidate.ts'

const announcementData = z.strictObject({ epoch: jws })

/** Reads it, if this is one. Before the other checks, since the number can be judged only by what it says. */
export async function readAnnouncement(
  examination: MessageExamination,
  { trust, destination }: ReceiveContext,
): Promise<void> {
  const { kind, seq, body } = requireEstablished(examination, 'statement')
  if (kind !== 'keys' || seq !== 1) return
  const broken = digestCheck(examination) ?? contentCheck(examination)
  const data = broken ? undefined : requireEstablished(examination, 'content').data
  if (!broken && (body.schema !== keys_schema || !data || !('epoch' in data))) return
  const note = announcementData.safeParse(data)
  if (broken) examination.announcement = { fault: broken }
  else if (note.error) examination.announcement = { fault: shapeFault('the announcement', note.error, 'SCHEMA') }
  else examination.announcement = await verifyAnnouncement(note.data.epoch, examination, { trust, destination })
}

/** Root keys alone count, however many message keys have signed: those are what an epoch may be opened to leave behind. */
async function verifyAnnouncement(
  note: Jws,
  examination: MessageExamination,
  { trust, destination }: Pick<ReceiveContext, 'trust' | 'destination'>,
): Promise<AnnouncementOutcome> {
  const roots = trust.pinned.filter(({ use }) => use === 'root')
  const verified = await trust.signatures.verify('epoch', note, roots)
  const unsigned = signersFault(verified, destination.peer.root_threshold ?? 1, 'root')
  if (unsigned || typeof verified === 'string') return { fault: unsigned ?? fault('BAD_SIG', 'it is not signed') }
  const read = readMessageJson(Buffer.from(verified.payload))
  const parsed = epochAnnouncement.safeParse(read.outcome === 'value' ? read.value : undefined)
  if (parsed.error) return { fault: shapeFault('the announcement', parsed.error, 'SCHEMA') }
  const announcement = parsed.data
  const { channel, src, dst, epoch } = requireEstablished(examination, 'statement')
  const isLate = verified.keys.some(
    (key) => key.not_after && Date.parse(announcement.created) > Date.parse(key.not_after),
  )
  if (isLate) return { fault: fault('UNKNOWN_KEY', 'a root key signed the announcement after its own end') }
  if (announcement.dst !== dst) return { fault: fault('WRONG_DST', 'it announces an epoch to another site') }
  if (announcement.channel !== channel || announcement.src !== src) {
    return { fault: fault('WRONG_CHANNEL', 'it announces an epoch of another channel') }
  }
  if (announcement.epoch !== epoch) return { fault: fault('SCHEMA', `it announces epoch ${announcement.epoch}`) }
  return { verified: announcement }
}

/** Durable before the message is taken in: what comes behind it must not wait for an epoch that is open. */
export async function openAnnouncedEpochs(
  batch: readonly MessageCandidate[],
  { filedrop, destination, link }: ScanContext,
): Promise<void> {
  for (const { examination, context, disposition } of batch) {
    const { announcement } = examination
    if (disposition || !announcement || 'fault' in announcement || announcement.verified.epoch <= context.epoch)
      continue
    const { epoch, reason, created } = announcement.verified
    const about = { before: context.epoch, created, epoch, reason }
    const event: AuditEvent = linkAuditEvent(link, 'filedrop.epoch.opened', destination.channel, about, filedrop, {
      trace: context.trace,
    })
    await filedrop.journal.advance(destination.channel, epoch, [event])
    filedrop.log.warn('filedrop.epoch.opened', { peer: link.peer, ...about })
  }
}

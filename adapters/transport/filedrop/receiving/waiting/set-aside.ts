// Sets a message aside whose role the site does not run: bounded, on disk for good, and with its audit record.
import * as fs from 'node:fs'
import type { MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { SetAsideRecord } from '../../../../../daemon/kernel/messaging/ledger.ts'
import { syncFolderAsync } from '../../../../platform/durable-file/sync-folder.ts'
import { fileBytes, type MessageExamination, requireEstablished } from '../../checks/message-examination.ts'
import { messageParts, partPath } from '../../files/message-name.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import { fault, type MessageFault } from '../../quarantine-reasons.ts'
import { arrivalOf } from '../batch/judge-batch.ts'
import type { MessageCandidate } from '../batch/message-candidate.ts'
import type { ReceiveContext, ScanContext } from '../scan-context.ts'

/** Whether one that was sent before waits for the same role: it must not be overtaken when the role comes. */
export function hasEarlierAside(role: string, { epoch, seq }: MessageNumber, { waiting }: ScanContext): boolean {
  for (const each of waiting.aside.values()) {
    if (each.role === role && (each.epoch < epoch || (each.epoch === epoch && each.seq < seq))) return true
  }
  return false
}

/** Why one more cannot be set aside; undefined for one that already is. Room is taken by the call. */
export function reserveRoom({ item, context, examination }: MessageCandidate, role: string): MessageFault | undefined {
  const { waiting, filedrop } = context
  if (waiting.aside.has(item.stem)) return undefined
  const { set_aside_max_messages, set_aside_max_bytes } = filedrop.settings
  const bytes = messageBytes(examination)
  let used = bytes
  for (const each of waiting.aside.values()) used += each.bytes
  if (waiting.aside.size >= set_aside_max_messages || used > set_aside_max_bytes) {
    return fault('QUOTA', `${waiting.aside.size} messages wait for roles that this site does not run`)
  }
  const arrival = arrivalOf({ context, examination })
  waiting.aside.set(item.stem, { ...arrival, state: 'set_aside', code: '', role, bytes })
  return undefined
}

/** Durable when it resolves: from now on an acknowledgement may cover these messages for as long as the role is away. */
export async function recordSetAside(batch: readonly MessageCandidate[], context: ScanContext): Promise<void> {
  const { link, filedrop, destination } = context
  const records: SetAsideRecord[] = []
  for (const { item, disposition, examination, context: own } of batch) {
    if (disposition?.is !== 'set_aside' || examination.entry?.state === 'set_aside') continue
    await Promise.all(messageParts.map((part) => syncFile(partPath(link.folders.work, item.stem, part))))
    const { role } = disposition
    const audit = [setAsideEvent(examination, role, own)]
    records.push({ epoch: item.epoch, seq: item.seq, role, bytes: messageBytes(examination), audit })
    const { kind } = requireEstablished(examination, 'statement')
    filedrop.log.warn('filedrop.message.set_aside', { peer: link.peer, epoch: item.epoch, seq: item.seq, kind, role })
  }
  if (records.length === 0) return
  await syncFolderAsync(link.folders.work)
  await filedrop.journal.recordSetAside(destination.channel, records)
}

function setAsideEvent(examination: MessageExamination, role: string, context: ReceiveContext) {
  const { link, filedrop, destination, trace } = context
  const { epoch, seq, kind, msg_id } = requireEstablished(examination, 'statement')
  const digest = requireEstablished(examination, 'digest')
  const about = { channel: destination.channel, digest, epoch, kind, role, seq }
  return linkAuditEvent(link, 'filedrop.message.set_aside', msg_id, about, filedrop, { trace })
}

function messageBytes({ envelope, body }: MessageExamination): number {
  return fileBytes(envelope).length + fileBytes(body).length
}

async function syncFile(path: string): Promise<void> {
  const file = await fs.promises.open(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

// Quarantines a message that the site refuses: the audit record first, then the move.
import { join } from 'node:path'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { QuarantineRecord } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { MessageExamination } from '../checks/message-examination.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { checkFileKind } from '../files/dropped-file.ts'
import { messageParts, partFileName } from '../files/message-name.ts'
import { linkAuditEvent } from '../link/link-audit-event.ts'
import { quarantinedTotal } from '../metrics.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import { type IncomingItem, itemPath } from '../receiving/scan/incoming-files.ts'
import type { QuarantineReportContext, ReceiveContext } from '../receiving/scan-context.ts'
import { copyFirstStatements } from './first-statements.ts'
import {
  type QuarantineOutcome,
  type QuarantineSource,
  quarantineFiles,
  quarantineFingerprint,
} from './quarantine-files.ts'

/** Records the audit event, then moves the files. Repeated after a crash or a failed move, neither is recorded twice. */
export async function quarantineMessage(item: IncomingItem, why: MessageFault, context: ReceiveContext): Promise<void> {
  await recordQuarantined([{ item, why, context }], context)
  await moveToQuarantine(item, why, context)
}

export type QuarantineDecision = {
  readonly item: IncomingItem
  readonly why: MessageFault
  readonly context: ReceiveContext
  readonly examination?: MessageExamination
}

/** Records and reports, once each, messages that are about to move to quarantine and have no outcome in the ledger. */
export async function recordQuarantined(
  decisions: readonly QuarantineDecision[],
  { filedrop, destination }: Pick<ReceiveContext, 'filedrop' | 'destination'>,
): Promise<void> {
  if (decisions.length === 0) return
  const records = decisions.map(({ item, why, context, examination }) => ({
    ...newRecord(item.stem, why, filesOf(item, context, examination), filedrop),
    audit: messageQuarantinedEvent(item, why, context, examination),
  }))
  const ids = await filedrop.journal.recordQuarantined(destination.channel, records)
  for (const [index, { item, why, context }] of decisions.entries())
    if (ids[index]?.is_new) reportQuarantined(item.stem, why, context)
}

/** The id of an item is made when the item is, and found again as long as the item is in quarantine. */
export function newRecord(
  stem: string,
  why: MessageFault,
  files: readonly QuarantineSource[],
  { random }: Pick<FiledropContext, 'random'>,
): QuarantineRecord {
  return { fingerprint: `${stem}-${quarantineFingerprint(why, files)}`, item: `${stem}-${random(4)}` }
}

export function messageQuarantinedEvent(
  item: IncomingItem,
  why: MessageFault,
  context: ReceiveContext,
  examination?: MessageExamination,
): AuditEvent {
  return quarantinedEvent(item.stem, why, messageDetails(item, context, examination), context)
}

export function quarantinedEvent(
  target: string,
  why: MessageFault,
  about: Readonly<Record<string, unknown>>,
  { link, filedrop, trace }: QuarantineReportContext,
): AuditEvent {
  return linkAuditEvent(link, 'filedrop.message.quarantined', target, { ...about, ...why }, filedrop, {
    outcome: 'refused',
    trace,
  })
}

export function reportQuarantined(
  file: string,
  why: MessageFault,
  { link, filedrop, trace }: QuarantineReportContext,
): void {
  const { trace_id } = trace
  filedrop.log.warn('filedrop.message.quarantined', { peer: link.peer, file, ...why, trace_id })
  filedrop.metrics.count(quarantinedTotal, { peer: link.peer, reason: why.reason })
}

/** The caller has recorded the audit event. A contradicting message is stored with the envelope of the earlier one. */
export async function moveToQuarantine(
  item: IncomingItem,
  why: MessageFault,
  context: ReceiveContext,
  examination?: MessageExamination,
): Promise<void> {
  const { link, filedrop, destination } = context
  const { stem } = item
  const files = filesOf(item, context, examination)
  const record = newRecord(stem, why, files, filedrop)
  const [entry] = await filedrop.journal.recordQuarantined(destination.channel, [record])
  const about = { ...messageDetails(item, context, examination), fault: why, now: filedrop.clock.now() }
  const against = why.reason === 'EQUIVOCATION' ? (examination?.contradicted_numbers ?? [item]) : []
  const id = entry?.item ?? record.item
  const named = { ...about, id, copies: copyFirstStatements(against, link, filedrop) }
  noteOutcome(stem, quarantineFiles(link.folders.quarantine, named, files, filedrop.passFaultPoint), context)
}

/** A file that cannot be moved is reported once by each process, and stays listed as a fault of the channel. */
export function noteOutcome(
  file: string,
  { bytes, stuck }: QuarantineOutcome,
  {
    link,
    filedrop,
    noteQuarantined,
    noteFailure,
  }: Pick<ReceiveContext, 'link' | 'filedrop' | 'noteQuarantined' | 'noteFailure'>,
): void {
  if (bytes > 0) noteQuarantined(bytes)
  if (stuck.length === 0) return
  noteFailure()
  const detail = `${file} cannot be moved to quarantine (${stuck[0]}): change its owner or mode, or remove it`
  if (link.trouble.get('in') !== detail)
    filedrop.log.error('filedrop.quarantine.move_failed', { peer: link.peer, file, code: stuck[0] })
  link.trouble.set('in', detail)
}

function filesOf(item: IncomingItem, context: ReceiveContext, examination: MessageExamination | undefined) {
  return messageParts.flatMap((part) => {
    if (item[part] === undefined) return []
    const read = examination?.[part === 'env' ? 'envelope' : 'body']
    const bytes = read && 'bytes' in read ? { bytes: read.bytes } : {}
    const path = currentPath(item, part, context)
    return [{ path, was: partFileName(item.stem, part), as: `${part}.json` as const, ...bytes }]
  })
}

function messageDetails(
  { epoch, seq }: IncomingItem,
  { link, destination }: ReceiveContext,
  examination: MessageExamination | undefined,
) {
  const known = examination?.statement ?? examination?.arrival
  return {
    peer: link.peer,
    channel: destination.channel,
    epoch,
    seq,
    ...(known ? { msg_id: known.msg_id } : {}),
    ...(examination?.digest === undefined ? {} : { statement_digest: examination.digest }),
  }
}

function currentPath(item: IncomingItem, part: (typeof messageParts)[number], { link }: ReceiveContext): string {
  if (item.is_copy) return itemPath(link.folders, item, part)
  const inWork = join(link.folders.work, partFileName(item.stem, part))
  return checkFileKind(inWork) === 'gone' ? itemPath(link.folders, item, part) : inWork
}

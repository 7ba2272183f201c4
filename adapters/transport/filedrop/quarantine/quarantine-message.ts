// Quarantines a message that the site refuses: the audit record first, then the move.
import { join } from 'node:path'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { MessageExamination } from '../checks/message-examination.ts'
import { checkFileKind } from '../files/dropped-file.ts'
import { messageParts, partFileName } from '../files/message-name.ts'
import { linkAuditEvent } from '../link/link-audit-event.ts'
import { quarantinedTotal } from '../metrics.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import { type IncomingItem, itemPath } from '../receiving/scan/incoming-files.ts'
import type { QuarantineReportContext, ReceiveContext } from '../receiving/scan-context.ts'
import { copyFirstStatements } from './first-statements.ts'
import { quarantineFiles } from './quarantine-files.ts'

/** Records the audit event, then moves the files. After a crash in between, both are repeated. */
export async function quarantineMessage(item: IncomingItem, why: MessageFault, context: ReceiveContext): Promise<void> {
  await context.filedrop.record([messageQuarantinedEvent(item, why, context)])
  reportQuarantined(item.stem, why, context)
  moveToQuarantine(item, why, context)
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
export function moveToQuarantine(
  item: IncomingItem,
  why: MessageFault,
  context: ReceiveContext,
  examination?: MessageExamination,
): void {
  const { link, filedrop } = context
  const { stem } = item
  const files = messageParts.flatMap((part) =>
    item[part] === undefined
      ? []
      : [{ path: currentPath(item, part, context), was: partFileName(stem, part), as: `${part}.json` as const }],
  )
  const about = { ...messageDetails(item, context, examination), stem, fault: why, now: filedrop.clock.now() }
  const against = why.reason === 'EQUIVOCATION' ? (examination?.contradicted_numbers ?? [item]) : []
  const named = { ...about, mark: filedrop.random(4), copies: copyFirstStatements(against, link, filedrop) }
  context.noteQuarantined(quarantineFiles(link.folders.quarantine, named, files, filedrop.passFaultPoint))
}

function messageDetails(
  { epoch, seq }: IncomingItem,
  { link, destination }: ReceiveContext,
  examination: MessageExamination | undefined,
) {
  return {
    peer: link.peer,
    channel: destination.channel,
    epoch,
    seq,
    ...(examination?.statement ? { msg_id: examination.statement.msg_id } : {}),
    ...(examination?.digest === undefined ? {} : { statement_digest: examination.digest }),
  }
}

function currentPath(item: IncomingItem, part: (typeof messageParts)[number], { link }: ReceiveContext): string {
  const inWork = join(link.folders.work, partFileName(item.stem, part))
  return checkFileKind(inWork) === 'gone' ? itemPath(link.folders, item, part) : inWork
}

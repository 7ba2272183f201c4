// What a scan works with, and how a message that may not come in is put away: audited first, then moved.
import { join } from 'node:path'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import { newTrace, type Trace } from '../../../../daemon/kernel/telemetry/trace.ts'
import type { MessageDestination, SenderTrust } from '../checks/message-checks.ts'
import { type MessageExamination, requireEstablished } from '../checks/message-examination.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { checkFileKind } from '../files/dropped-file.ts'
import { messageParts, partFileName } from '../files/message-name.ts'
import { type FiledropLink, linkAuditEvent } from '../link/filedrop-link.ts'
import { quarantinedTotal } from '../metrics.ts'
import type { MessageFault } from '../quarantine-reasons.ts'
import type { SilenceAlarm } from '../receiving/gaps/silence-alarm.ts'
import { type IncomingItem, itemPath } from '../receiving/scan/incoming-files.ts'
import { copyFirstStatements } from './first-statements.ts'
import { quarantineFiles } from './quarantine-files.ts'

/** Everything that one scan of a channel works with, as it stands for one batch. */
export type ScanContext = {
  readonly link: FiledropLink
  readonly filedrop: FiledropContext
  readonly trust: SenderTrust
  readonly destination: MessageDestination
  /** The channel's. */
  readonly epoch: number
  /** Ordered messages that wait in `work` behind a gap, by stem. */
  readonly held: Set<string>
  /** Messages that wait in `work` for the announcement of their epoch, by stem. */
  readonly early: Set<string>
  /** In `work` for no fault of their own since this process began: their being there counts as no attempt. */
  readonly deferred: Set<string>
  /** What people let pass, by stem. */
  readonly waivers: ReadonlyMap<string, Waiver>
  readonly isStopped: () => boolean
  readonly freeze: (detail: string, examination: MessageExamination, trace: Trace) => Promise<void>
  /** Told of each item added to the quarantine. */
  readonly noteQuarantined: (bytes: number) => void
  /** Told of each batch whose fates are decided. */
  readonly noteActivity: SilenceAlarm['noteActivity']
  /** Told of each accident. */
  readonly noteFailure: () => void
}

/** The same for one message, or one stray file, that the scan takes up: a trace begins with each. */
export type ReceiveContext = ScanContext & { readonly trace: Trace }

/** What is needed to tell of something that is put away. */
export type QuarantineReportContext = Pick<ReceiveContext, 'link' | 'filedrop' | 'trace'>

export function withTrace(context: ScanContext): ReceiveContext {
  return { ...context, trace: newTrace(context.filedrop.random) }
}

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

/** To quarantine, audited first: after a crash in between it is put away, and told, once more. */
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

/** The audit chain knows of it already. What contradicts an earlier message lies beside the envelope of that one. */
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

// What a scan works with, and how a message that may not come in is put away: audited first, then moved.
import { join } from 'node:path'
import type { AuditEvent } from '../../../../daemon/kernel/audit.ts'
import type { Waiver } from '../../../../daemon/kernel/journal.ts'
import { newTrace, type Trace } from '../../../../daemon/kernel/trace.ts'
import type { Place, Trust } from '../checks/checks.ts'
import { kindOf } from '../checks/dropped-file.ts'
import { known, type Specimen } from '../checks/specimen.ts'
import { eventOf, type Line } from '../line.ts'
import { quarantinedTotal } from '../metrics.ts'
import { fileOf, parts } from '../names.ts'
import { quarantine } from '../quarantine/quarantine.ts'
import type { Fault } from '../reasons.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Item, pathOf } from './dropbox.ts'
import { firstStatements } from './first-statement.ts'
import type { Silence } from './silence.ts'

/** Everything that one scan of a channel works with, as it stands for one batch. */
export type ScanDesk = {
  readonly line: Line
  readonly around: Surroundings
  readonly trust: Trust
  readonly place: Place
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
  readonly freeze: (detail: string, specimen: Specimen, trace: Trace) => Promise<void>
  /** Told of each item added to the quarantine. */
  readonly quarantined: (bytes: number) => void
  /** Told of each batch whose fates are decided. */
  readonly heard: Silence['heard']
  /** Told of each accident. */
  readonly failed: () => void
}

/** The same for one message, or one stray file, that the scan takes up: a trace begins with each. */
export type Desk = ScanDesk & { readonly trace: Trace }

/** What is needed to tell of something that is put away. */
export type Telling = Pick<Desk, 'line' | 'around' | 'trace'>

export function traced(desk: ScanDesk): Desk {
  return { ...desk, trace: newTrace(desk.around.random) }
}

export function appliedEvent(specimen: Specimen, { line, around, place, trace }: Desk): AuditEvent {
  const { epoch, seq, kind, msg_id } = known(specimen, 'statement')
  const label = known(specimen, 'entered')
  const waived = specimen.waiver ? { waived: specimen.waiver.reason } : {}
  const about = { channel: place.channel, digest: known(specimen, 'digest'), epoch, kind, seq, ...waived }
  return eventOf(line, 'filedrop.message.applied', msg_id, about, around, { label, trace })
}

/** To quarantine, audited first: after a crash in between it is put away, and told, once more. */
export async function putAway(item: Item, why: Fault, desk: Desk): Promise<void> {
  await desk.around.record([closingEvent(item, why, desk)])
  tellPutAway(item.stem, why, desk)
  moveAway(item, why, desk)
}

export function closingEvent(item: Item, why: Fault, desk: Desk, specimen?: Specimen): AuditEvent {
  return quarantinedEvent(item.stem, why, whereabouts(item, desk, specimen), desk)
}

export function quarantinedEvent(
  target: string,
  why: Fault,
  about: Readonly<Record<string, unknown>>,
  { line, around, trace }: Telling,
): AuditEvent {
  return eventOf(line, 'filedrop.message.quarantined', target, { ...about, ...why }, around, {
    outcome: 'refused',
    trace,
  })
}

export function tellPutAway(file: string, why: Fault, { line, around, trace }: Telling): void {
  const { trace_id } = trace
  around.log.warn('filedrop.message.quarantined', { peer: line.peer, file, ...why, trace_id })
  around.metrics.count(quarantinedTotal, { peer: line.peer, reason: why.reason })
}

/** The audit chain knows of it already. What contradicts an earlier message lies beside the envelope of that one. */
export function moveAway(item: Item, why: Fault, desk: Desk, specimen?: Specimen): void {
  const { line, around } = desk
  const { stem } = item
  const files = parts.flatMap((part) =>
    item[part] === undefined
      ? []
      : [{ path: placed(item, part, desk), was: fileOf(stem, part), as: `${part}.json` as const }],
  )
  const about = { ...whereabouts(item, desk, specimen), stem, fault: why, now: around.clock.now() }
  const against = why.reason === 'EQUIVOCATION' ? (specimen?.against ?? [item]) : []
  const named = { ...about, mark: around.random(4), copies: firstStatements(against, line, around) }
  desk.quarantined(quarantine(line.folders.quarantine, named, files, around.reached))
}

function whereabouts({ epoch, seq }: Item, { line, place }: Desk, specimen: Specimen | undefined) {
  return {
    peer: line.peer,
    channel: place.channel,
    epoch,
    seq,
    ...(specimen?.statement ? { msg_id: specimen.statement.msg_id } : {}),
    ...(specimen?.digest === undefined ? {} : { statement_digest: specimen.digest }),
  }
}

function placed(item: Item, part: (typeof parts)[number], { line }: Desk): string {
  const inWork = join(line.folders.work, fileOf(item.stem, part))
  return kindOf(inWork) === 'gone' ? pathOf(line.folders, item, part) : inWork
}

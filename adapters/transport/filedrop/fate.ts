// What becomes of a message that has been judged: the ledger is told, the audit chain is told, and only then its files move.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '../../../daemon/kernel/journal.ts'
import type { Place, Trust } from './checks.ts'
import { type Item, pathOf } from './dropbox.ts'
import { kindOf } from './dropped-file.ts'
import { eventOf, type Line } from './line.ts'
import { duplicatesTotal, quarantinedTotal, receivedTotal } from './metrics.ts'
import { fileOf, parts } from './names.ts'
import { quarantine } from './quarantine.ts'
import { type Fault, fault, reasons } from './reasons.ts'
import { known, type Specimen, statementOf } from './specimen.ts'
import type { Surroundings } from './surroundings.ts'

/** Everything that one scan of a channel works with. */
export type Desk = {
  readonly line: Line
  readonly around: Surroundings
  readonly trust: Trust
  readonly place: Place
  /** Ordered messages that wait in `work` behind a gap, by stem. */
  readonly held: Map<string, { readonly epoch: number; readonly seq: number }>
  /** In `work` for no fault of their own since this process began: their being there counts as no attempt. */
  readonly deferred: Set<string>
  readonly freeze: (detail: string, specimen: Specimen) => Promise<void>
  /** Told of each item added to the quarantine. */
  readonly quarantined: (bytes: number) => void
}

export async function applied(item: Item, specimen: Specimen, desk: Desk): Promise<void> {
  const { line, around, place } = desk
  const { epoch, seq, kind, msg_id, label } = statementOf(specimen)
  const about = { channel: place.channel, epoch, seq, kind, digest: known(specimen, 'digest') }
  const event = eventOf(line, 'filedrop.message.applied', msg_id, about, around, { label })
  await around.journal.settle(place.channel, epoch, seq, { state: 'applied', code: '' }, [event])
  around.metrics.count(receivedTotal, { peer: line.peer, kind })
  around.log.info('filedrop.message.applied', { peer: line.peer, epoch, seq, kind, msg_id })
  moveToDone(item, desk)
}

/** Enters a proven message that is not to be applied, so that its number counts as arrived and is no gap. */
export async function settleAs(
  state: 'refused' | 'quarantined',
  why: Fault,
  specimen: Specimen,
  { around, place }: Desk,
): Promise<void> {
  const { epoch, seq, prev, msg_id, kind } = known(specimen, 'statement')
  const digest = known(specimen, 'digest')
  await around.journal.receive(place.channel, { epoch, seq, digest, prev, msg_id, kind, at: around.clock.now() })
  await around.journal.settle(place.channel, epoch, seq, { state, code: why.code ?? why.reason })
}

/** To quarantine, audited first: after a crash in between it is put away, and told, once more. */
export async function putAway(item: Item, why: Fault, desk: Desk, specimen?: Specimen): Promise<void> {
  const { line, around, place } = desk
  const { stem, epoch, seq } = item
  const statement = specimen?.statement
  const where = {
    peer: line.peer,
    channel: place.channel,
    epoch,
    seq,
    ...(statement ? { msg_id: statement.msg_id } : {}),
    ...(specimen?.digest === undefined ? {} : { statement_digest: specimen.digest }),
  }
  await tellRefused(stem, why, where, desk)
  const files = parts.flatMap((part) =>
    item[part] === undefined
      ? []
      : [{ path: placed(item, part, desk), was: fileOf(stem, part), as: `${part}.json` as const }],
  )
  const now = around.clock.now()
  desk.quarantined(
    quarantine(line.folders.quarantine, { ...where, stem, fault: why, now, mark: around.random(4) }, files),
  )
  forget(stem, desk)
}

export async function tellRefused(
  target: string,
  why: Fault,
  about: Readonly<Record<string, unknown>>,
  { line, around }: Desk,
): Promise<void> {
  const event = eventOf(line, 'filedrop.message.quarantined', target, { ...about, ...why }, around, {
    outcome: 'refused',
  })
  await around.record([event])
  around.log.warn('filedrop.message.quarantined', { peer: line.peer, file: target, ...why })
  around.metrics.count(quarantinedTotal, { peer: line.peer, reason: why.reason })
}

/**
 * The ledger has closed this statement. Found in `work`: a crash came before its files were moved. Come anew: a
 * duplicate, silently done; where the first copy is kept already, the second is dropped.
 */
export async function closeSettled(item: Item, entry: LedgerEntry, desk: Desk, wasInWork: boolean): Promise<void> {
  const { line, around, place } = desk
  if (wasInWork && entry.state !== 'applied') return await putAway(item, lastFault(entry), desk)
  if (!wasInWork) {
    await around.journal.duplicate(place.channel)
    around.metrics.count(duplicatesTotal, { peer: line.peer })
  }
  const isKept = entry.state !== 'applied' || kindOf(join(line.folders.done, fileOf(item.stem, 'env'))) !== 'gone'
  if (!isKept) return moveToDone(item, desk)
  for (const part of parts) fs.rmSync(join(line.folders.work, fileOf(item.stem, part)), { force: true })
  forget(item.stem, desk)
}

function lastFault({ state, code }: LedgerEntry): Fault {
  if (state === 'refused') return { reason: 'REFUSED', detail: 'refused before a crash', code }
  return fault(reasons.find((reason) => reason === code) ?? 'REFUSED', 'judged before a crash')
}

function moveToDone(item: Item, desk: Desk): void {
  const { work, done } = desk.line.folders
  for (const part of parts) {
    const from = join(work, fileOf(item.stem, part))
    if (kindOf(from) !== 'gone') fs.renameSync(from, join(done, fileOf(item.stem, part)))
  }
  forget(item.stem, desk)
}

function placed(item: Item, part: (typeof parts)[number], { line }: Desk): string {
  const inWork = join(line.folders.work, fileOf(item.stem, part))
  return kindOf(inWork) === 'gone' ? pathOf(line.folders, item, part) : inWork
}

function forget(stem: string, desk: Desk): void {
  desk.held.delete(stem)
  desk.deferred.delete(stem)
}

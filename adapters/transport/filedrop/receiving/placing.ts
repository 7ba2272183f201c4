// The last step of a message: the journal and the audit chain know its fate, and its files go where that says.
import * as fs from 'node:fs'
import type { LedgerEntry } from '../../../../daemon/kernel/journal.ts'
import { kindOf } from '../checks/dropped-file.ts'
import { known } from '../checks/specimen.ts'
import { duplicatesTotal, receivedTotal } from '../metrics.ts'
import { fileOf, parts, pathIn } from '../names.ts'
import { removeFound, tellOf } from '../quarantine/purge-walk.ts'
import { type Fault, fault, reasons } from '../reasons.ts'
import type { Candidate } from './candidate.ts'
import type { Item } from './dropbox.ts'
import { type Desk, moveAway, putAway, tellPutAway } from './fate.ts'

export async function putInPlace(candidate: Candidate): Promise<void> {
  const { item, specimen, desk, fate } = candidate
  if (candidate.purged !== undefined && fate?.is !== 'failed') await dropBody(candidate, candidate.purged)
  if (fate?.is === 'applied') {
    tellApplied(candidate)
    moveToDone(item, desk)
  } else if (fate?.is === 'settled') await closeSettled(candidate, known(specimen, 'entry'))
  else if (fate?.is === 'deferred') desk.deferred.add(item.stem)
  else if (fate?.is === 'failed') forget(item, desk)
  else if (fate && 'fault' in fate) {
    tellPutAway(item.stem, fate.fault, desk)
    moveAway(item, fate.fault, desk, specimen)
    forget(item, desk)
  }
}

/** Told before it is done; what is put in its place afterwards is the envelope alone. */
async function dropBody({ item, desk, wasInWork }: Candidate, order: string): Promise<void> {
  const { folders, peer } = desk.line
  const place = wasInWork ? 'work' : 'fresh'
  const found = { peer, place, folder: folders.work, file: fileOf(item.stem, 'body'), other_names: 0 } as const
  await desk.around.journal.addPurgeFinds(order, tellOf(found, desk.around.settings))
  removeFound(found)
}

function tellApplied({ specimen, desk }: Candidate): void {
  const { line, around, trace } = desk
  const { epoch, seq, kind, msg_id } = known(specimen, 'statement')
  const { trace_id } = trace
  around.metrics.count(receivedTotal, { peer: line.peer, kind })
  around.log.info('filedrop.message.applied', { peer: line.peer, epoch, seq, kind, msg_id, trace_id })
}

/**
 * The ledger has closed this statement. Found in `work`: a crash came before its files were moved. Come anew: a
 * duplicate, silently dropped. The first copy is kept, or was until its time was over, or is not to be kept at all.
 */
async function closeSettled({ item, desk, wasInWork }: Candidate, entry: LedgerEntry): Promise<void> {
  const { line, around } = desk
  if (wasInWork && entry.state !== 'applied') {
    await putAway(item, lastFault(entry), desk)
    return forget(item, desk)
  }
  if (!wasInWork) around.metrics.count(duplicatesTotal, { peer: line.peer })
  const done = parts.filter((part) => kindOf(pathIn(line.folders.done, item.stem, part)) !== 'gone')
  // A half there is what a crash, or a power cut, left of the first copy.
  const isKept = entry.state !== 'applied' || done.length === parts.length || (!wasInWork && done.length === 0)
  if (!isKept) return moveToDone(item, desk)
  for (const part of parts) fs.rmSync(pathIn(line.folders.work, item.stem, part), { force: true })
  forget(item, desk)
}

function lastFault({ state, code }: LedgerEntry): Fault {
  if (state === 'refused') return { reason: 'REFUSED', detail: 'refused before a crash', code }
  return fault(reasons.find((reason) => reason === code) ?? 'REFUSED', 'judged before a crash')
}

/** The body first: with its envelope in `work`, a crash in between is found and ended. */
function moveToDone(item: Item, desk: Desk): void {
  const { work, done } = desk.line.folders
  for (const part of parts) {
    try {
      fs.renameSync(pathIn(work, item.stem, part), pathIn(done, item.stem, part))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    desk.around.reached('moved-to-done')
  }
  forget(item, desk)
}

function forget({ stem }: Item, { held, early, deferred }: Desk): void {
  held.delete(stem)
  early.delete(stem)
  deferred.delete(stem)
}

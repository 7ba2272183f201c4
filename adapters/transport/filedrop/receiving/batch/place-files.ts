// Moves the files of a message to their final folder, after the journal and the audit log have its disposition.
import * as fs from 'node:fs'
import type { LedgerEntry } from '../../../../../daemon/kernel/messaging/ledger.ts'
import { requireEstablished } from '../../checks/message-examination.ts'
import { broken_successor } from '../../checks/sequence-check.ts'
import { checkFileKind } from '../../files/dropped-file.ts'
import { messageParts, partFileName, partPath } from '../../files/message-name.ts'
import { duplicatesTotal, receivedTotal } from '../../metrics.ts'
import { describeMatch, removeMatch } from '../../quarantine/purge-walk.ts'
import { moveToQuarantine, reportQuarantined } from '../../quarantine/quarantine-message.ts'
import { fault, type MessageFault, quarantineReasons } from '../../quarantine-reasons.ts'
import { type IncomingItem, itemPath } from '../scan/incoming-files.ts'
import type { ReceiveContext } from '../scan-context.ts'
import type { MessageCandidate } from './message-candidate.ts'

export async function placeFiles(candidate: MessageCandidate): Promise<void> {
  const { item, examination, context, disposition } = candidate
  if (candidate.purge_order !== undefined && disposition?.is !== 'failed')
    await purgeBody(candidate, candidate.purge_order)
  if (disposition?.is === 'applied') {
    reportApplied(candidate)
    moveToDone(item, context)
  } else if (disposition?.is === 'duplicate') dropCopy(candidate)
  else if (disposition?.is === 'settled') await closeSettledMessage(candidate, requireEstablished(examination, 'entry'))
  else if (disposition?.is === 'deferred' || disposition?.is === 'set_aside') noteDeferred(item, context)
  else if (disposition?.is === 'failed') forgetWaiting(item, context)
  else if (disposition && 'fault' in disposition) {
    if (disposition.is === 'refused' || disposition.is === 'quarantined')
      reportQuarantined(item.stem, disposition.fault, context)
    await moveToQuarantine(item, disposition.fault, context, examination)
    forgetWaiting(item, context)
  }
}

/** Drops the bytes that were compared, and no file that has replaced them since. */
function dropCopy({ item, examination, context }: MessageCandidate): void {
  const { link, filedrop } = context
  filedrop.metrics.count(duplicatesTotal, { peer: link.peer })
  for (const part of messageParts) {
    const read = examination[part === 'env' ? 'envelope' : 'body']
    const path = itemPath(link.folders, item, part)
    if ('inode' in read && fs.lstatSync(path, { throwIfNoEntry: false })?.ino === read.inode) fs.rmSync(path)
  }
}

/** Reported before it is done; only the envelope stays in place afterwards. */
async function purgeBody({ item, context, wasInWork }: MessageCandidate, order: string): Promise<void> {
  const { folders, peer } = context.link
  const place = wasInWork ? 'work' : 'fresh'
  const found = { peer, place, folder: folders.work, file: partFileName(item.stem, 'body'), other_names: 0 } as const
  await context.filedrop.journal.addPurgeFinds(order, describeMatch(found, context.filedrop.settings))
  removeMatch(found)
}

function reportApplied({ examination, context }: MessageCandidate): void {
  const { link, filedrop, trace } = context
  const { epoch, seq, kind, msg_id } = requireEstablished(examination, 'statement')
  const { trace_id } = trace
  filedrop.metrics.count(receivedTotal, { peer: link.peer, kind })
  filedrop.log.info('filedrop.message.applied', { peer: link.peer, epoch, seq, kind, msg_id, trace_id })
}

/**
 * The ledger has closed this statement. Found in `work`: a crash came before its files were moved. Come anew: a
 * duplicate, silently dropped. The first copy is kept, or was until its time was over, or is not to be kept at all.
 */
async function closeSettledMessage(candidate: MessageCandidate, entry: LedgerEntry): Promise<void> {
  const { item, context, examination, wasInWork } = candidate
  if (item.is_copy) return dropCopy(candidate)
  const { link, filedrop } = context
  if (wasInWork && entry.state !== 'applied') {
    // The audit record was filed with its outcome.
    await moveToQuarantine(item, lastFault(entry), context, examination)
    return forgetWaiting(item, context)
  }
  if (!wasInWork) filedrop.metrics.count(duplicatesTotal, { peer: link.peer })
  const done = messageParts.filter((part) => checkFileKind(partPath(link.folders.done, item.stem, part)) !== 'gone')
  // A half there is what a crash, or a power cut, left of the first copy.
  const isKept = entry.state !== 'applied' || done.length === messageParts.length || (!wasInWork && done.length === 0)
  if (!isKept) return moveToDone(item, context)
  for (const part of messageParts) fs.rmSync(partPath(link.folders.work, item.stem, part), { force: true })
  forgetWaiting(item, context)
}

function lastFault({ state, code }: LedgerEntry): MessageFault {
  if (state === 'refused') return { reason: 'REFUSED', detail: 'refused before its files were moved', code }
  const reason = quarantineReasons.find((each) => each === code)
  if (reason === 'CHAIN_BREAK') return fault(reason, broken_successor)
  return reason ? fault(reason, detail_of_moved) : { reason: 'REFUSED', detail: detail_of_moved, code }
}

const detail_of_moved = 'judged before its files were moved: the audit record has the details'

/** The body first: with its envelope in `work`, a crash in between is found and ended. */
function moveToDone(item: IncomingItem, context: ReceiveContext): void {
  const { work, done } = context.link.folders
  for (const part of messageParts) {
    try {
      fs.renameSync(partPath(work, item.stem, part), partPath(done, item.stem, part))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    context.filedrop.passFaultPoint('moved-to-done')
  }
  forgetWaiting(item, context)
}

/** The copy in `new` says nothing of the message in `work` that has its name. */
function forgetWaiting({ stem, is_copy }: IncomingItem, { held, early, deferred, waiting }: ReceiveContext): void {
  if (is_copy) return
  held.delete(stem)
  early.delete(stem)
  deferred.delete(stem)
  waiting.received.delete(stem)
  waiting.aside.delete(stem)
}

function noteDeferred({ stem, is_copy }: IncomingItem, { deferred }: ReceiveContext): void {
  if (!is_copy) deferred.add(stem)
}

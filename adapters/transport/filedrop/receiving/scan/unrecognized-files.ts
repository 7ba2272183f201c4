// Handles files that are not messages, and halves of messages: wait, finish an interrupted step, or quarantine.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { checkFileKind } from '../../files/dropped-file.ts'
import { partFileName } from '../../files/message-name.ts'
import { findHalfMoved, quarantineFiles } from '../../quarantine/quarantine-files.ts'
import {
  newRecord,
  noteOutcome,
  quarantinedEvent,
  quarantineMessage,
  reportQuarantined,
} from '../../quarantine/quarantine-message.ts'
import type { MessageFault } from '../../quarantine-reasons.ts'
import type { ReceiveContext } from '../scan-context.ts'
import { type IncomingItem, itemPath, locateUnrecognized, type UnrecognizedFile } from './incoming-files.ts'

/** In quarantine it gets a name of this site; its own, which may hold any bytes, is in the reason file. */
export async function quarantineUnrecognized(
  file: UnrecognizedFile,
  why: MessageFault,
  context: ReceiveContext,
): Promise<void> {
  const { name, path } = locateUnrecognized(file)
  const { link, filedrop, destination } = context
  const stem = `stranger-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
  const named = { name: String(name).slice(0, 255), channel: destination.channel }
  const files = [{ path, was: name, as: 'file' }] as const
  const record = { ...newRecord(stem, why, files, filedrop), audit: quarantinedEvent(stem, why, named, context) }
  const [entry] = await filedrop.journal.recordQuarantined(destination.channel, [record])
  if (entry?.is_new) reportQuarantined(stem, why, context)
  const about = { peer: link.peer, channel: destination.channel, id: entry?.item ?? record.item, fault: why }
  const item = { ...about, now: filedrop.clock.now() }
  noteOutcome(stem, quarantineFiles(link.folders.quarantine, item, files, filedrop.passFaultPoint), context)
}

/**
 * Finishes a message with one part. An entry that is not a regular file is not waited for; in `work` it is the remainder of a
 * move that a crash interrupted, and the move is completed now.
 */
export async function finishHalfMessage(item: IncomingItem, context: ReceiveContext): Promise<'done' | 'wait'> {
  const own = item.env === undefined ? 'body' : 'env'
  const other = own === 'env' ? 'body' : 'env'
  const path = itemPath(context.link.folders, item, own)
  const kind = checkFileKind(path)
  if (kind === 'gone') return 'done'
  if (kind) {
    await quarantineMessage(item, kind, context)
    return 'done'
  }
  if (item[own] !== 'work') return 'wait'
  const { done, quarantine: away } = context.link.folders
  const ownFile = partFileName(item.stem, own)
  if (checkFileKind(join(done, ownFile)) !== 'gone') fs.rmSync(path)
  else if (checkFileKind(join(done, partFileName(item.stem, other))) !== 'gone')
    fs.renameSync(path, join(done, ownFile))
  else {
    const name = findHalfMoved(away, item.stem, other, own)
    if (name === undefined) return 'wait'
    fs.renameSync(path, join(away, name))
  }
  return 'done'
}

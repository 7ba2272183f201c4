// Collects incoming messages into batches: reads each one once and moves it to `work`.
import * as fs from 'node:fs'
import { readClaims, readIfComplete } from '../../checks/completeness.ts'
import { readMessageFiles } from '../../checks/message-examination.ts'
import { type DroppedFile, isPrivate, makePrivate, private_mode, readDroppedFile } from '../../files/dropped-file.ts'
import { type MessagePart, messageParts, partFileName, partPath } from '../../files/message-name.ts'
import type { MessageCandidate } from '../batch/message-candidate.ts'
import type { ReceiveContext } from '../scan-context.ts'
import { type IncomingItem, itemPath } from './incoming-files.ts'

/** Reads a message of which both parts are there, and moves it to `work`; `wait` while it is not complete. */
export function collectMessage(
  item: IncomingItem,
  context: ReceiveContext,
  isSuspect = false,
): MessageCandidate | 'wait' | 'done' {
  const { folders } = context.link
  const { settings, passFaultPoint } = context.filedrop
  const name = partFileName(item.stem, 'env')
  if (isWholeInWork(item)) {
    const paths = { env: workPath(item, 'env', context), body: workPath(item, 'body', context) }
    const specimen = readMessageFiles(name, paths, settings, true)
    return {
      item,
      context,
      wasInWork: true,
      isSuspect,
      examination: { ...specimen, claims: readClaims(specimen.envelope) },
    }
  }
  const paths = { env: itemPath(folders, item, 'env'), body: itemPath(folders, item, 'body') }
  const read = readIfComplete(name, paths, settings)
  // Half a copy of a message that is here is not waited for.
  if (!read) return item.is_copy ? 'done' : 'wait'
  if (item.is_copy) return { item, context, wasInWork: false, isSuspect, examination: read }
  passFaultPoint('read')
  for (const part of messageParts) {
    if (item[part] === 'new') fs.renameSync(paths[part], workPath(item, part, context))
    passFaultPoint('moved-to-work')
  }
  const envelope = confirmMoved(read.envelope, workPath(item, 'env', context), settings.max_envelope_bytes)
  const body = confirmMoved(read.body, workPath(item, 'body', context), settings.max_body_bytes)
  const claims = envelope === read.envelope ? read.claims : readClaims(envelope)
  return {
    item,
    context,
    wasInWork: false,
    isSuspect,
    examination: { name, envelope, body, ...(claims ? { claims } : {}) },
  }
}

export function isWholeInWork(item: IncomingItem): boolean {
  return item.env === 'work' && item.body === 'work'
}

function workPath(item: IncomingItem, part: MessagePart, { link }: ReceiveContext): string {
  return partPath(link.folders.work, item.stem, part)
}

/**
 * The bytes that were read in `new`, unless another file replaced them before the move: then the file in `work` counts. The
 * folder belongs to this site alone, so that its mode can be changed by name.
 */
function confirmMoved(read: DroppedFile, path: string, max_bytes: number): DroppedFile {
  const stat = 'bytes' in read ? fs.lstatSync(path, { throwIfNoEntry: false }) : undefined
  const isSame = 'bytes' in read && stat?.ino === read.inode && stat.nlink === 1 && stat.size === read.bytes.length
  if (!isSame) return readDroppedFile(path, max_bytes, true)
  if (!isPrivate(stat)) makePrivate(() => fs.chmodSync(path, private_mode))
  return read
}

// Gathers the messages that lie there into batches: each read once, and moved to work.
import * as fs from 'node:fs'
import { claimsOf, readIfComplete } from '../checks/completeness.ts'
import { type Dropped, isPrivate, makePrivate, private_mode, readDropped } from '../checks/dropped-file.ts'
import { readSpecimen } from '../checks/specimen.ts'
import { fileOf, type Part, parts, pathIn } from '../names.ts'
import type { Candidate } from './candidate.ts'
import { type Item, pathOf } from './dropbox.ts'
import type { Desk } from './fate.ts'

/** Reads a message of which both parts are there, and moves it to `work`; `wait` while it is not complete. */
export function collect(item: Item, desk: Desk, isSuspect = false): Candidate | 'wait' {
  const { folders } = desk.line
  const { settings, reached } = desk.around
  const name = fileOf(item.stem, 'env')
  if (isInWork(item)) {
    const paths = { env: workPath(item, 'env', desk), body: workPath(item, 'body', desk) }
    const specimen = readSpecimen(name, paths, settings, true)
    return { item, desk, wasInWork: true, isSuspect, specimen: { ...specimen, claims: claimsOf(specimen.envelope) } }
  }
  const paths = { env: pathOf(folders, item, 'env'), body: pathOf(folders, item, 'body') }
  const read = readIfComplete(name, paths, settings)
  if (!read) return 'wait'
  reached('read')
  for (const part of parts) {
    if (item[part] === 'new') fs.renameSync(paths[part], workPath(item, part, desk))
    reached('moved-to-work')
  }
  const envelope = asMoved(read.envelope, workPath(item, 'env', desk), settings.max_envelope_bytes)
  const body = asMoved(read.body, workPath(item, 'body', desk), settings.max_body_bytes)
  const claims = envelope === read.envelope ? read.claims : claimsOf(envelope)
  return { item, desk, wasInWork: false, isSuspect, specimen: { name, envelope, body, ...(claims ? { claims } : {}) } }
}

export function isInWork(item: Item): boolean {
  return item.env === 'work' && item.body === 'work'
}

function workPath(item: Item, part: Part, { line }: Desk): string {
  return pathIn(line.folders.work, item.stem, part)
}

/**
 * What was read in `new`, unless another file was put there before it was moved: then what is in `work` counts. The
 * folder is ours alone, so that its mode can be changed by name.
 */
function asMoved(read: Dropped, path: string, max_bytes: number): Dropped {
  const stat = 'bytes' in read ? fs.lstatSync(path, { throwIfNoEntry: false }) : undefined
  const isSame = 'bytes' in read && stat?.ino === read.inode && stat.nlink === 1 && stat.size === read.bytes.length
  if (!isSame) return readDropped(path, max_bytes, true)
  if (!isPrivate(stat)) makePrivate(() => fs.chmodSync(path, private_mode))
  return read
}

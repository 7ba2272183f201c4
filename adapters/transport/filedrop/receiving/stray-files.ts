// Files that are no message, and halves of one: whether they wait, belong to a step that a crash cut short, or go.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { kindOf } from '../checks/dropped-file.ts'
import { fileOf } from '../names.ts'
import { halfMoved, quarantine } from '../quarantine/quarantine.ts'
import type { Fault } from '../reasons.ts'
import { type Item, pathOf, type Stranger, whereIs } from './dropbox.ts'
import { type Desk, putAway, quarantinedEvent, tellPutAway } from './fate.ts'

/** In quarantine it gets a name of ours; its own, which may hold anything, stands in the reason file. */
export async function putAwayStranger(stranger: Stranger, why: Fault, desk: Desk): Promise<void> {
  const { name, path } = whereIs(stranger)
  const { line, around, place } = desk
  const stem = `stranger-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
  const named = { name: String(name).slice(0, 255), channel: place.channel }
  await around.record([quarantinedEvent(stem, why, named, desk)])
  tellPutAway(stem, why, desk)
  const about = { peer: line.peer, channel: place.channel, stem, fault: why }
  const item = { ...about, now: around.clock.now(), mark: around.random(4) }
  const files = [{ path, was: name, as: 'file' }] as const
  desk.quarantined(quarantine(line.folders.quarantine, item, files, around.reached))
}

/**
 * A message of which one part is there. What is no plain file need not be waited for; in `work` it is what a crash
 * left of a move, which is ended now.
 */
export async function finishHalf(item: Item, desk: Desk): Promise<'done' | 'wait'> {
  const own = item.env === undefined ? 'body' : 'env'
  const other = own === 'env' ? 'body' : 'env'
  const path = pathOf(desk.line.folders, item, own)
  const kind = kindOf(path)
  if (kind === 'gone') return 'done'
  if (kind) {
    await putAway(item, kind, desk)
    return 'done'
  }
  if (item[own] !== 'work') return 'wait'
  const { done, quarantine: away } = desk.line.folders
  const ownFile = fileOf(item.stem, own)
  if (kindOf(join(done, ownFile)) !== 'gone') fs.rmSync(path)
  else if (kindOf(join(done, fileOf(item.stem, other))) !== 'gone') fs.renameSync(path, join(done, ownFile))
  else {
    const name = halfMoved(away, item.stem, other, own)
    if (name === undefined) return 'wait'
    fs.renameSync(path, join(away, name))
  }
  return 'done'
}

// Moves refused files to quarantine, each with a file beside it that states the reason. Nothing is deleted.

import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { parseJsonAs } from '../../../../daemon/kernel/encoding/parse-json.ts'
import { writeDurably } from '../../../platform/durable-file/write-durably.ts'
import type { FiledropFaultHook } from '../fault-points.ts'
import { checkFileKind, type DroppedFilePath } from '../files/dropped-file.ts'
import { readOwnFile } from '../files/read-own-file.ts'
import { type MessageFault, quarantineReasons } from '../quarantine-reasons.ts'
import { groupByItem } from './quarantine-items.ts'

const reasonFile = z.strictObject({
  v: z.literal(1),
  reason: z.enum(quarantineReasons),
  detail: z.string(),
  code: z.string().optional(),
  at: z.iso.datetime(),
  peer: z.string(),
  channel: z.string(),
  epoch: z.int().optional(),
  seq: z.int().optional(),
  msg_id: z.string().optional(),
  statement_digest: z.string().optional(),
  files: z.array(
    z.strictObject({ was: z.string(), was_base64: z.string().optional(), name: z.string(), bytes: z.int() }),
  ),
})
export type ReasonFile = z.infer<typeof reasonFile>

/** `as`: its name in quarantine, after the item's id. `was`: its former name, as bytes if it is not text. */
export type QuarantineMove = {
  readonly path: DroppedFilePath
  readonly was: string | Buffer
  readonly as: 'env.json' | 'body.json' | 'file'
}

/** `bytes`: its content, where it was read. */
export type QuarantineSource = QuarantineMove & { readonly bytes?: Buffer }

/** A file that is copied into the quarantine item, and also stays in its place. */
export type QuarantineCopy = { readonly was: string; readonly as: string; readonly bytes: Buffer }

export type QuarantineCase = Omit<ReasonFile, 'v' | 'reason' | 'detail' | 'code' | 'files' | 'at'> & {
  readonly fault: MessageFault
  /** Epoch milliseconds. */
  readonly now: number
  /** Of the item. */
  readonly id: string
  readonly copies?: readonly QuarantineCopy[]
}

/** `bytes`: that the item now takes beyond what it took before. `stuck`: error codes of files that could not be moved. */
export type QuarantineOutcome = { readonly bytes: number; readonly stuck: readonly string[] }

/**
 * The same whenever the same files meet the same reason: the item is then written once. By content where it was read, otherwise
 * by the file itself.
 */
export function quarantineFingerprint({ reason }: MessageFault, files: readonly QuarantineSource[]): string {
  const hash = createHash('sha256').update(reason)
  for (const { path, was, bytes } of files) {
    const inode = bytes ? undefined : fs.lstatSync(path, { throwIfNoEntry: false })?.ino
    if (bytes || inode !== undefined)
      hash
        .update('\0')
        .update(was)
        .update('\0')
        .update(bytes ?? String(inode))
  }
  return hash.digest('hex')
}

/**
 * The reason is on disk before anything moves, so that no file lies there unexplained. An item that is there already keeps its
 * reason, and further copies of its bytes are dropped. A file that cannot be moved stays where it is.
 */
export function quarantineFiles(
  folder: string,
  about: QuarantineCase,
  files: readonly QuarantineMove[],
  passFaultPoint?: FiledropFaultHook,
): QuarantineOutcome {
  const present = files.filter(({ path }) => checkFileKind(path) !== 'gone')
  const { id } = about
  const written = writeReason(folder, about, present)
  passFaultPoint?.('reason-written')
  let bytes = written
  const stuck: string[] = []
  for (const { path, as } of present) {
    const size = diskBytes(path)
    const moved = moveInto(path, join(folder, `${id}.${as}`))
    if (moved === 'moved') bytes += size
    else if (moved !== 'dropped') stuck.push(moved)
    passFaultPoint?.('moved-to-quarantine')
  }
  return { bytes, stuck }
}

/** Another name of the same file, or another copy of the same bytes. */
function isSameFile(path: DroppedFilePath, target: string): boolean {
  const [one, other] = [path, target].map((each) => fs.lstatSync(each, { throwIfNoEntry: false }))
  if (!one || !other) return false
  if (one.ino === other.ino && one.dev === other.dev) return true
  if (!one.isFile() || !other.isFile() || one.size !== other.size || one.size > max_compared_bytes) return false
  return fs.readFileSync(path).equals(fs.readFileSync(target))
}

/** No part of a message that was read is larger. */
const max_compared_bytes = 67_108_864

/** Codes of a file that only another user, or another mount, can move. */
const stuckCodes = new Set(['EACCES', 'EPERM', 'EBUSY', 'EXDEV', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'])

function moveInto(path: DroppedFilePath, target: string): string {
  try {
    if (checkFileKind(target) !== 'gone') {
      if (!isSameFile(path, target)) return 'EEXIST'
      fs.rmSync(path)
      return 'dropped'
    }
    fs.renameSync(path, target)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (stuckCodes.has(code)) return code
    throw error
  }
  makeFilePrivate(target)
  return 'moved'
}

/** Returns the bytes that it takes; none for an item that has its reason. */
function writeReason(folder: string, about: QuarantineCase, present: readonly QuarantineMove[]): number {
  const { id, fault, now, copies = [], ...where } = about
  const reason = join(folder, `${id}.reason.json`)
  if (checkFileKind(reason) !== 'gone') return 0
  const sizes = present.map(({ path }) => diskBytes(path))
  const content: ReasonFile = {
    v: 1,
    ...fault,
    at: new Date(now).toISOString(),
    ...where,
    files: [
      ...present.map(({ was, as }, index) => ({
        ...(typeof was === 'string' ? { was } : { was: was.toString('utf8'), was_base64: was.toString('base64') }),
        name: `${id}.${as}`,
        bytes: sizes[index] ?? 0,
      })),
      ...copies.map(({ was, as, bytes }) => ({ was, name: `${id}.${as}`, bytes: bytes.length })),
    ],
  }
  for (const { as, bytes } of copies) writeDurably(join(folder, `${id}.${as}`), bytes)
  writeDurably(reason, `${JSON.stringify(content, undefined, 2)}\n`)
  return copies.reduce((sum, { bytes }) => sum + bytes.length, diskBytes(reason))
}

/**
 * Replaces the sender's mode. An entry that is not a regular file with one name stays as it is: its mode may be another
 * file's. The folder belongs to this site alone, so nothing is swapped in between; a file of another owner keeps its mode,
 * which `doctor` reports.
 */
function makeFilePrivate(path: string): void {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() || stat.nlink !== 1) return
  try {
    fs.chmodSync(path, 0o600)
  } catch {
    // Already in quarantine, with its reason: that is what counts.
  }
}

/** Counts items and the bytes that they take on disk, with those of the reasons: empty files may be many. */
export function measureQuarantine(folder: string): { items: number; bytes: number } {
  const names = fs.readdirSync(folder)
  let bytes = 0
  for (const name of names) bytes += diskBytes(join(folder, name))
  return { items: groupByItem(names).size, bytes }
}

/** Disk space, not length: a sparse file of many gigabytes must not close the channel. */
function diskBytes(path: DroppedFilePath): number {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() ? Math.min(stat.size, stat.blocks * 512) : 0
}

/** The name in quarantine of the file whose other half went there before a crash; undefined when there is none. */
export function findHalfMoved(folder: string, stem: string, other: string, own: string): string | undefined {
  const there = fs.readdirSync(folder).find((name) => name.startsWith(`${stem}-`) && name.endsWith(`.${other}.json`))
  return there === undefined ? undefined : there.replace(`.${other}.json`, `.${own}.json`)
}

/** Undefined for a file that is not a reason file, or cannot be read. */
export function readReasonFile(path: string): ReasonFile | undefined {
  try {
    return parseJsonAs(reasonFile, readOwnFile(path) ?? '')
  } catch {
    // Removed or closed to this user since it was listed.
    return undefined
  }
}

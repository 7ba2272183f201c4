// Reads an untrusted file that may change during the read: one descriptor, no links followed, a size cap.
import * as fs from 'node:fs'
import { fault, type MessageFault } from '../quarantine-reasons.ts'

/** `inode`: identifies the file of the bytes, whatever its name by now. */
export type DroppedFile =
  | { readonly bytes: Buffer; readonly inode: number }
  | { readonly fault: MessageFault }
  | { readonly gone: true }
export type DroppedFilePath = string | Buffer

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = fs.constants

/**
 * The bytes of a regular file with one link and at most this many bytes. With `own` its mode becomes 0600: what the
 * sender set never counts. Throws for what the disk refuses. Synchronous: each call is some microseconds of work, and
 * a hop to another thread costs more.
 */
export function readDroppedFile(path: DroppedFilePath, max_bytes: number, own = false): DroppedFile {
  // Looked at before it is opened: opening a device can already do something.
  const kind = checkFileKind(path)
  if (kind === 'gone') return { gone: true }
  if (kind) return { fault: kind }
  let file: number
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  } catch (error) {
    return openFailure(error)
  }
  try {
    const stat = fs.fstatSync(file)
    const flaw = statFault(stat)
    if (flaw) return { fault: flaw }
    if (own && !isPrivate(stat)) makePrivate(() => fs.fchmodSync(file, private_mode))
    const bytes = readUpTo(file, Math.min(stat.size, max_bytes) + 1)
    if (bytes.length > max_bytes || stat.size > max_bytes) {
      return { fault: fault('TOO_LARGE', `more than ${max_bytes} bytes`) }
    }
    return { bytes, inode: stat.ino }
  } finally {
    fs.closeSync(file)
  }
}

/** Of one whose memory is given back at once. Smaller ones may share their memory with others. */
const large_bytes = 1_048_576

/**
 * Gives the memory of a large file back, whose bytes nobody reads any more: the collector of garbage does so late, since objects in
 * front of the memory are small.
 */
export function releaseBytes(file: DroppedFile): void {
  if (!('bytes' in file)) return
  const { buffer } = file.bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= large_bytes) buffer.transfer(0)
}

/** The fault of the file itself, without reading it; undefined for a regular file with one link. */
export function checkFileKind(path: DroppedFilePath): MessageFault | 'gone' | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat ? statFault(stat) : 'gone'
}

function statFault(stat: fs.Stats): MessageFault | undefined {
  if (!stat.isFile()) return fault('NOT_REGULAR', 'a link, folder, pipe, socket or device')
  if (stat.nlink !== 1) return fault('HARDLINK', `${stat.nlink} names lead to it`)
  return undefined
}

function openFailure(error: unknown): DroppedFile {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return { gone: true }
  if (code === 'ELOOP' || code === 'ENXIO') return { fault: fault('NOT_REGULAR', 'a link or socket') }
  throw error
}

export const private_mode = 0o600

export function isPrivate(stat: fs.Stats): boolean {
  return (stat.mode & 0o7777) === private_mode
}

/** Ignores failures for a file of another user, who keeps its mode; the folder belongs to this site alone anyway. */
export function makePrivate(chmod: () => void): void {
  try {
    chmod()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

function readUpTo(file: number, max_bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(max_bytes)
  let length = 0
  for (;;) {
    const count = fs.readSync(file, buffer, length, max_bytes - length, null)
    length += count
    // `max_bytes` is one more than the size of the file, so one read of an unchanged file reaches its end.
    if (count === 0 || length >= max_bytes - 1) break
  }
  return buffer.subarray(0, length)
}

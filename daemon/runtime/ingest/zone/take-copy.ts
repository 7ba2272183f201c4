// Copies a file that others can still write into custody: one descriptor, no links followed, a cap, a digest of what was copied.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolderAsync } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import type { CarriedFault, TakenFile } from '../../../roles/ingest/landing-zone/model.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
const read_bytes = 1_048_576

type CopyOptions = {
  readonly inode: string
  readonly max_file_bytes: number
  readonly signal: AbortSignal
}

/** Identifies a file, whatever its name by now. */
export function identify({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}

/** Repeatable: a target that is there is whole, since it has its name only then. */
export async function takeCopy(
  source: string,
  target: string,
  { inode, max_file_bytes, signal }: CopyOptions,
): Promise<TakenFile | CarriedFault | 'gone'> {
  const there = await openFile(target)
  if (there !== 'gone') {
    const taken = await digestFile(there, signal)
    await removeSource(source, inode)
    return taken
  }
  const opened = await openFile(source).catch(describeDenial)
  if (opened === 'gone' || 'code' in opened) return opened
  const draft = `${target}.draft`
  try {
    const before = await opened.stat()
    if (identify(before) !== inode) return 'gone'
    const taken = await copyFile(opened, draft, { max_file_bytes, signal })
    const after = await opened.stat()
    // Somebody writes it still: it is found again once it rests.
    if (!('code' in taken) && (after.size !== taken.bytes || after.ctimeMs !== before.ctimeMs)) return 'gone'
    if ('code' in taken) return taken
    await rename(draft, target)
    await syncFolderAsync(dirname(target))
    await removeSource(source, inode)
    return taken
  } finally {
    await opened.close()
    await rm(draft, { force: true })
  }
}

async function copyFile(
  from: FileHandle,
  draft: string,
  { max_file_bytes, signal }: Pick<CopyOptions, 'max_file_bytes' | 'signal'>,
): Promise<TakenFile | CarriedFault> {
  const into = await open(draft, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const piece of readPieces(from, signal)) {
      bytes += piece.length
      if (bytes > max_file_bytes) return { code: 'TOO_LARGE', reason: `a file may have ${max_file_bytes} bytes` }
      hash.update(piece)
      await into.appendFile(piece)
    }
    await into.sync()
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await into.close()
  }
}

async function digestFile(file: FileHandle, signal: AbortSignal): Promise<TakenFile> {
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const piece of readPieces(file, signal)) {
      bytes += piece.length
      hash.update(piece)
    }
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

async function* readPieces(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(read_bytes)
  for (let at = 0; ; ) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, read_bytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function openFile(path: string): Promise<FileHandle | 'gone'> {
  try {
    // Opening a pipe must not block, and no link is followed.
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    if ((await file.stat()).isFile()) return file
    await file.close()
    return 'gone'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return 'gone'
    throw error
  }
}

/** A file that its carrier closed to the service must not hold up those after it. */
function describeDenial(error: unknown): CarriedFault {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'EACCES' && code !== 'EPERM') throw error
  return { code: 'UNREADABLE', reason: 'the service may not read it' }
}

/** What took the name meanwhile is another file. */
async function removeSource(source: string, inode: string): Promise<void> {
  try {
    if (identify(await lstat(source)) === inode) await unlink(source)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

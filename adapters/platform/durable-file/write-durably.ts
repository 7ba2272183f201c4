// Writes a file durably: it appears under its name only when it is complete and on disk, after a power cut too.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as fsp from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFolder, syncFolderAsync } from './sync-folder.ts'

type DurableWriteOptions<Check> = {
  /** Permissions of the file (default 0600). */
  readonly mode?: number
  /** Path of the draft on the file system of the file (default: a hidden name of its own in the same folder). */
  readonly draft?: string
  /** `refuse` (default) throws EEXIST, so that a fixed name locks; `overwrite` reuses what a crash left. */
  readonly existing_draft?: 'refuse' | 'overwrite'
  /** `replace` (default), or `refuse`, which throws EEXIST and needs a file system with hard links. */
  readonly existing_file?: 'replace' | 'refuse'
  /** Runs when the draft is on disk; an exception discards it, and the former file stays. */
  readonly beforeRename?: Check
  /** False where the caller syncs the folder once after several files. */
  readonly syncs_folder?: boolean
}

/** A function writes the content itself. */
export type FileContent<Opened, Written> = string | Uint8Array | ((opened: Opened) => Written)

/** Throws what the file system throws; a draft that was not finished is removed. */
export function writeDurably(
  file: string,
  content: FileContent<number, void>,
  options: DurableWriteOptions<() => void> = {},
): void {
  const draft = options.draft ?? nameDraft(file)
  const opened = fs.openSync(draft, openFlag(options), options.mode ?? 0o600)
  try {
    try {
      if (typeof content === 'function') content(opened)
      else fs.writeFileSync(opened, content)
      fs.fsyncSync(opened)
    } finally {
      fs.closeSync(opened)
    }
    options.beforeRename?.()
    if (options.existing_file === 'refuse') fs.linkSync(draft, file)
    else fs.renameSync(draft, file)
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  }
  if (options.existing_file === 'refuse') fs.unlinkSync(draft)
  if (options.syncs_folder !== false) syncFolder(dirname(file))
}

/** Does the same as `writeDurably` without blocking the event loop. */
export async function writeDurablyAsync(
  file: string,
  content: FileContent<fsp.FileHandle, Promise<void>>,
  options: Omit<DurableWriteOptions<() => void | Promise<void>>, 'existing_file'> = {},
): Promise<void> {
  const draft = options.draft ?? nameDraft(file)
  const opened = await fsp.open(draft, openFlag(options), options.mode ?? 0o600)
  try {
    try {
      if (typeof content === 'function') await content(opened)
      else await opened.writeFile(content)
      await opened.sync()
    } finally {
      await opened.close()
    }
    await options.beforeRename?.()
    await fsp.rename(draft, file)
  } catch (error) {
    await fsp.rm(draft, { force: true })
    throw error
  }
  if (options.syncs_folder !== false) await syncFolderAsync(dirname(file))
}

/** Makes a file durable that was written in pieces under its own name: first its content, then its name. */
export function syncNewFile(opened: number, file: string): void {
  fs.fsyncSync(opened)
  syncFolder(dirname(file))
}

/** Bytes of one write; the system limit is 2 GiB. */
const piece_bytes = 1 << 28

/** Writes at the current position until every byte is written: the system may accept fewer bytes than it was given. */
export function writeFully(opened: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let at = 0; at < bytes.length; ) {
    at += fs.writeSync(opened, bytes, at, Math.min(piece_bytes, bytes.length - at))
  }
}

function openFlag({ existing_draft }: DurableWriteOptions<unknown>): 'w' | 'wx' {
  return existing_draft === 'overwrite' ? 'w' : 'wx'
}

function nameDraft(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
}

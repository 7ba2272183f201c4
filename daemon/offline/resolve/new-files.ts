// Creates result files and folders; never overwrites an existing one.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/**
 * Runs work whose results go into a new or empty private folder. If it fails, the folders that were created for it are removed,
 * unless something is in them. Throws `OfflineCommandError`: 3 if the folder is not empty, 1 if it cannot be written.
 */
export async function withResultFolder<T>(out: string | undefined, work: () => Promise<T>): Promise<T> {
  if (out === undefined) return await work()
  const created = { first: undefined as string | undefined }
  try {
    claimFolder(out, (first) => {
      created.first = first
    })
    return await work()
  } catch (error) {
    if (created.first !== undefined) removeEmptyFolders(resolve(out), resolve(created.first))
    throw error
  }
}

/** From the innermost to the first one that was created. */
function removeEmptyFolders(innermost: string, first: string): void {
  runAsInvoker(() => {
    try {
      for (let folder = innermost; folder.startsWith(first); folder = dirname(folder)) rmdirSync(folder)
    } catch {
      // A folder in which somebody put something stays, and so do those around it.
    }
  })
}

/** `onCreate` receives the outermost of the folders that did not exist. */
function claimFolder(out: string, onCreate: (first: string) => void): void {
  runAsInvoker(() => {
    try {
      const first = mkdirSync(out, { recursive: true, mode: 0o700 })
      if (first !== undefined) onCreate(first)
      if (readdirSync(out).length > 0) throw new OfflineCommandError(3, `${out} is not empty`, 'name a new folder')
      tryWriting(join(out, '.partial'))
    } catch (error) {
      if (error instanceof OfflineCommandError) throw error
      throw new OfflineCommandError(1, `${out} cannot be written: ${describeWriteError(error)}`)
    }
  })
}

/** Tries whether a file could be created or replaced, before work that takes long. Throws `OfflineCommandError` (1). */
export function requireWritable(file: string): void {
  runAsInvoker(() => {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
      throw new OfflineCommandError(1, `${file} cannot be written: it is a folder`, 'name a file')
    const folder = dirname(resolve(file))
    try {
      tryWriting(join(folder, `.${process.pid}.partial`))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const remedy = code === 'ENOENT' ? `create ${folder}, or name another file` : 'name another file'
      throw new OfflineCommandError(1, `${file} cannot be written: ${describeWriteError(error)}`, remedy)
    }
  })
}

/** The same, and that the file does not exist: 3. */
export function requireNewFile(file: string): void {
  if (runAsInvoker(() => existsSync(file)))
    throw new OfflineCommandError(3, `${file} already exists`, 'name a new file')
  requireWritable(file)
}

/** Rights alone do not tell whether a disk takes a file: it may be read-only, or the system may forbid it. */
function tryWriting(trial: string): void {
  closeSync(openSync(trial, 'wx', 0o600))
  rmSync(trial, { force: true })
}

const writeErrorReasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'what should be its folder is a file',
  EEXIST: 'what should be a folder is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
}

function describeWriteError(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException
  return writeErrorReasons[code] ?? code
}

/** Creates a private file. Throws `OfflineCommandError`: 3 if it exists, 1 if it cannot be written. */
export function writeNewFile(file: string, text: string): void {
  try {
    runAsInvoker(() => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new OfflineCommandError(3, `${file} already exists`, 'name a new file')
    throw new OfflineCommandError(1, `${file} cannot be written: ${describeWriteError(error)}`)
  }
}

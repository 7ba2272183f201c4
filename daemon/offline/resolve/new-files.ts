// Creates result files and folders; never overwrites an existing one.
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Creates a private folder. Throws `OfflineCommandError`: 3 if it is not empty, 1 if it cannot be written. */
export function claimFolder(out: string): void {
  runAsInvoker(() => {
    try {
      mkdirSync(out, { recursive: true, mode: 0o700 })
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

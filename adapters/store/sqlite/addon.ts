// Extracts SQLite's native addon from the executable so that it can be loaded.
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, readSync, unlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type Database from 'better-sqlite3'
import { writeFully } from '../../platform/durable-file/write-durably.ts'

/** As its types have it: a path. The library takes the loaded code itself as well. */
type NativeBinding = NonNullable<Database.Options['nativeBinding']>

/** Loaded once: all databases of a thread share the code. */
let loadedBinding: NativeBinding | undefined

/**
 * The addon in the executable; undefined from sources. Inside the executable all modules lie flat in one virtual folder,
 * with `native/` and `profiles/` beside them. Threads cannot read it, and are given it.
 */
export function readPackedAddon(): Uint8Array | undefined {
  const moduleDirectory = path.dirname(fileURLToPath(import.meta.url))
  const file = path.join(moduleDirectory, 'native', `better_sqlite3-linux-${process.arch}.node`)
  return existsSync(file) ? readFileSync(file) : undefined
}

/**
 * The native binding, for better-sqlite3's option `nativeBinding`: loaded from the executable, through `dir`, a folder
 * of this user alone (see `loadNative`); from sources, the path of the package's prebuilt file. `packed`: see `readPackedAddon`.
 * @throws when no file can be made in `dir`, another user could write there, or its file system forbids running code.
 */
export function loadSqliteAddon(dir: string, packed?: Uint8Array): NativeBinding {
  if (loadedBinding) return loadedBinding
  const addon = packed ?? readPackedAddon()
  if (!addon) return findPrebuiltAddon()
  loadedBinding = loadNative(addon, dir)
  return loadedBinding
}

function findPrebuiltAddon(): string {
  const packageFile = createRequire(import.meta.url).resolve('better-sqlite3/package.json')
  return path.join(path.dirname(packageFile), 'prebuilds', `linux-${process.arch}.node`)
}

/**
 * Loads native code from memory, through a file that never has a name and that only this user can write: no file of
 * another user is ever run. Once in a process: the system's loader takes a second file under the same descriptor for
 * the first.
 * @throws Error with the reason when `dir` is not a folder of this user alone, or its file system forbids running code.
 */
export function loadNative(content: Uint8Array, dir: string): NativeBinding {
  const folder = openOwnFolder(dir)
  try {
    const file = createNamelessFile(folder)
    try {
      writeFully(file, content)
      requireContent(file, content, dir)
      return loadDescriptor(file, dir)
    } finally {
      closeSync(file)
    }
  } finally {
    closeSync(folder)
  }
}

/** The descriptor keeps the folder that was checked, whatever its path names later. */
function openOwnFolder(dir: string): number {
  const folder = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const { uid, mode } = fstatSync(folder)
  const user = process.geteuid?.()
  if (uid === user && (mode & 0o022) === 0) return folder
  closeSync(folder)
  const found =
    uid === user ? `others may write there (mode ${(mode & 0o777).toString(8)})` : `it belongs to user ${uid}`
  throw new Error(`native code is not loaded through ${dir}: ${found}; only a folder of user ${user} alone is allowed`)
}

/** O_TMPFILE of Linux, which Node does not name: a file without a name. With O_EXCL it can never get one. */
const nameless = 0o20000000 | constants.O_DIRECTORY

function createNamelessFile(folder: number): number {
  const dir = `/proc/self/fd/${folder}`
  try {
    return openSync(dir, nameless | constants.O_RDWR | constants.O_EXCL, 0o500)
  } catch (error) {
    if (!lacksNamelessFiles.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  // Network file systems have no nameless files. Nobody else can reach this name, since the folder is this user's alone.
  const draft = `${dir}/.native-${randomBytes(6).toString('hex')}`
  const file = openSync(draft, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o500)
  unlinkSync(draft)
  return file
}

/** EISDIR: a kernel that does not know the flag. */
const lacksNamelessFiles: ReadonlySet<string> = new Set(['EOPNOTSUPP', 'EISDIR', 'EINVAL'])

/** The file system is asked for what it stored: code that differs by one bit is not run. */
function requireContent(file: number, content: Uint8Array, dir: string): void {
  const stored = Buffer.alloc(content.length)
  const bytes = readSync(file, stored, 0, stored.length, 0)
  if (bytes !== content.length || fstatSync(file).size !== content.length || !stored.equals(content))
    throw new Error(`the native code written to ${dir} reads back differently; check its file system`)
}

function loadDescriptor(file: number, dir: string): NativeBinding {
  const module = { exports: {} as unknown as NativeBinding }
  try {
    process.dlopen(module, `/proc/self/fd/${file}`)
  } catch (error) {
    const { message } = error as Error
    const remedy = 'the file system must allow running code (no mount option noexec), and /proc must be mounted'
    throw new Error(`native code cannot be loaded through ${dir}: ${message}; ${remedy}`, { cause: error })
  }
  return module.exports
}

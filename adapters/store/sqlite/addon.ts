// Brings SQLite's native code to a place it can be loaded from: the packaged executable holds it, but cannot run it there.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Inside the executable all modules lie flat in one virtual folder, with `native/` and `profiles/` beside them. */
const here = path.dirname(fileURLToPath(import.meta.url))
const bundledAddon = path.join(here, 'native', `better_sqlite3-linux-${process.arch}.node`)
const isPackaged = existsSync(bundledAddon)

/** The folder that holds `profiles/`: the virtual one of the executable, or from sources the repository. */
export const bundleDirectory = isPackaged ? here : path.resolve(here, '../../..')

/**
 * Path of the native binding, for better-sqlite3's option `nativeBinding`. From sources it is the prebuilt file of the
 * package. Packaged, it is `dir/native/better_sqlite3.node` (folder 0700, file 0500), written when it is missing or
 * differs by a byte from what the executable holds, so that nothing put there by another is ever loaded.
 * @throws when `dir` cannot be written, or when `dir/native` belongs to another user.
 */
export function sqliteAddon(dir: string): string {
  if (!isPackaged) return prebuiltAddon()
  const known = extracted.get(dir) ?? extractAddon(readFileSync(bundledAddon), dir)
  extracted.set(dir, known)
  return known
}

/** By folder, what this process has checked: once the code is loaded, reading 2 MB again for each database tells nothing. */
const extracted = new Map<string, string>()

function prebuiltAddon(): string {
  const packageFile = createRequire(import.meta.url).resolve('better-sqlite3/package.json')
  return path.join(path.dirname(packageFile), 'prebuilds', `linux-${process.arch}.node`)
}

/** Writes `content` to `dir/native/better_sqlite3.node` unless those very bytes stand there; returns the path. */
export function extractAddon(content: Buffer, dir: string): string {
  const folder = privateFolder(path.join(dir, 'native'))
  const file = path.join(folder, 'better_sqlite3.node')
  if (!holds(file, content)) replace(file, content)
  return file
}

function privateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${folder} is not a folder of this user; remove it, or choose another data folder`)
  }
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  return folder
}

/** Whether the file is ours alone and byte for byte the wanted one: stronger than a digest, and no slower. */
function holds(file: string, content: Buffer): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) return false
  return found.size === content.length && readFileSync(file).equals(content)
}

/** Renamed into place: processes that start together each see no file or a whole one, and a loaded one stays mapped. */
function replace(file: string, content: Buffer): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = openSync(draft, 'wx', 0o500)
    try {
      writeFileSync(handle, content)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

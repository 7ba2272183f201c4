// Extracts SQLite's native addon from the executable so that it can be loaded.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type Database from 'better-sqlite3'

/** Inside the executable all modules lie flat in one virtual folder, with `native/` and `profiles/` beside them. */
const moduleDirectory = path.dirname(fileURLToPath(import.meta.url))
const bundledAddon = path.join(moduleDirectory, 'native', `better_sqlite3-linux-${process.arch}.node`)
const isPackaged = existsSync(bundledAddon)

/** As its types have it: a path. The library takes the loaded code itself as well. */
type NativeBinding = NonNullable<Database.Options['nativeBinding']>

/** Loaded once: all databases of a process share the code. */
let loadedBinding: NativeBinding | undefined

/**
 * The native binding, for better-sqlite3's option `nativeBinding`: loaded from the executable, through a file in `dir`
 * that nobody else can touch (see `loadNative`), or from sources the path of the package's prebuilt file.
 * @throws when no file can be made in `dir`, or its file system forbids running code.
 */
export function loadSqliteAddon(dir: string): NativeBinding {
  if (!isPackaged) return findPrebuiltAddon()
  loadedBinding ??= loadNative(readFileSync(bundledAddon), dir)
  return loadedBinding
}

function findPrebuiltAddon(): string {
  const packageFile = createRequire(import.meta.url).resolve('better-sqlite3/package.json')
  return path.join(path.dirname(packageFile), 'prebuilds', `linux-${process.arch}.node`)
}

/**
 * Loads native code from memory. It goes through a new file that has lost its name before it is loaded, by its
 * descriptor: another user of `dir` finds nothing to replace, and no file that lay there before is ever run.
 * Once in a process: the system's loader takes a second file under the same descriptor for the first.
 */
export function loadNative(content: Buffer, dir: string): NativeBinding {
  const draft = path.join(dir, `.native-${randomBytes(6).toString('hex')}`)
  const file = openSync(draft, 'wx', 0o500)
  try {
    unlinkSync(draft)
    writeFileSync(file, content)
    const module = { exports: {} as unknown as NativeBinding }
    process.dlopen(module, `/proc/self/fd/${file}`)
    return module.exports
  } finally {
    closeSync(file)
  }
}

// The native addon is loaded from the executable itself, through a file that no other user can write or replace.
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadNative, loadSqliteAddon } from './addon.ts'

const prebuilt = loadSqliteAddon('')
let dir: string

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'addon-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('the prebuilt file of the package opens a database', () => {
  const db = new Database(':memory:', { nativeBinding: prebuilt })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
})

test('bytes that are not native code are not loaded, leave no file, and the reason names folder and remedy', () => {
  expect(() => loadNative(Buffer.from('no code'), dir)).toThrow(`through ${dir}: `)
  expect(() => loadNative(Buffer.from('no code'), dir)).toThrow('noexec')
  expect(readdirSync(dir)).toEqual([])
})

test('an addon in memory is loaded and opens a database, and its file never had a name', async () => {
  const seen: (string | null)[] = []
  // `rename`: a name came or went. The kernel reports changes of a nameless file as well, under an invented name.
  const observer = watch(dir, (event, name) => event === 'rename' && seen.push(name))
  try {
    const nativeBinding = loadNative(readFileSync(prebuilt), dir)
    const db = new Database(':memory:', { nativeBinding })
    expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
    db.close()
    // The kernel reports names in order: whatever came before this one has been reported with it.
    writeFileSync(path.join(dir, 'last'), '')
    await expect.poll(() => seen).toContain('last')
    expect(seen.filter((name) => name !== 'last')).toEqual([])
  } finally {
    observer.close()
  }
})

test.each([0o770, 0o707, 0o1777])('a folder that others may write (%s) is refused', (mode) => {
  chmodSync(dir, mode)
  expect(() => loadNative(readFileSync(prebuilt), dir)).toThrow('others may write there')
})

test('a link to a folder is refused', () => {
  const own = path.join(dir, 'own')
  mkdirSync(own, { mode: 0o700 })
  symlinkSync(own, path.join(dir, 'link'))
  expect(() => loadNative(readFileSync(prebuilt), path.join(dir, 'link'))).toThrow()
})

test.runIf(process.getuid?.() === 0)('root refuses a folder of another user', () => {
  chownSync(dir, 57_003, 57_003)
  expect(() => loadNative(readFileSync(prebuilt), dir)).toThrow('it belongs to user 57003')
})

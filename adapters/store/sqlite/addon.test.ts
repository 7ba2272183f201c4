// Shows that the native code which is loaded is the one the executable holds, whatever lies in the folder.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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

test('from sources the prebuilt file of the package opens a database', () => {
  const db = new Database(':memory:', { nativeBinding: prebuilt })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
})

test('what is no native code is not loaded, and leaves nothing behind', () => {
  expect(() => loadNative(Buffer.from('no code'), dir)).toThrow()
  expect(readdirSync(dir)).toEqual([])
})

test('code in memory is loaded and opens a database, and no file of it is left for another to change', () => {
  const nativeBinding = loadNative(readFileSync(prebuilt), dir)
  const db = new Database(':memory:', { nativeBinding })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
  expect(readdirSync(dir)).toEqual([])
})

// The native addon is loaded from the executable itself, never from a file in the folder.
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

test('the prebuilt file of the package opens a database', () => {
  const db = new Database(':memory:', { nativeBinding: prebuilt })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
})

test('bytes that are not native code are not loaded, and leave no file', () => {
  expect(() => loadNative(Buffer.from('no code'), dir)).toThrow()
  expect(readdirSync(dir)).toEqual([])
})

test('an addon in memory is loaded and opens a database, and leaves no file that another could change', () => {
  const nativeBinding = loadNative(readFileSync(prebuilt), dir)
  const db = new Database(':memory:', { nativeBinding })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
  expect(readdirSync(dir)).toEqual([])
})

// Shows that the native code which is loaded is the one the executable holds, whatever lies in the folder.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { extractAddon, sqliteAddon } from './addon.ts'

const content = Buffer.from('the real native code')
let dir: string

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'addon-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('from sources the prebuilt file of the package opens a database', () => {
  const db = new Database(':memory:', { nativeBinding: sqliteAddon(dir) })
  expect(db.prepare('SELECT sqlite_version() AS version').get()).toHaveProperty('version')
  db.close()
})

test('the extracted file is private, and a second call leaves it alone', () => {
  const file = extractAddon(content, dir)
  expect(readFileSync(file)).toEqual(content)
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  expect(statSync(file).mode & 0o777).toBe(0o500)
  const first = statSync(file).ino
  extractAddon(content, dir)
  expect(statSync(file).ino).toBe(first)
  expect(readdirSync(path.dirname(file))).toEqual(['better_sqlite3.node'])
})

test('a changed file of the same length is replaced', () => {
  const file = extractAddon(content, dir)
  chmodSync(file, 0o700)
  writeFileSync(file, Buffer.alloc(content.length, 'x'))
  expect(readFileSync(extractAddon(content, dir))).toEqual(content)
})

test('a link to a file of the right content is replaced by a file', () => {
  const file = extractAddon(content, dir)
  const elsewhere = path.join(dir, 'elsewhere')
  writeFileSync(elsewhere, content)
  rmSync(file)
  symlinkSync(elsewhere, file)
  extractAddon(content, dir)
  writeFileSync(elsewhere, 'changed afterwards')
  expect(readFileSync(file)).toEqual(content)
})

test('a folder that others may write is closed to them', () => {
  const folder = path.dirname(extractAddon(content, dir))
  chmodSync(folder, 0o777)
  extractAddon(content, dir)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('a link in place of the folder is refused', () => {
  symlinkSync(tmpdir(), path.join(dir, 'native'))
  expect(() => extractAddon(content, dir)).toThrow('not a folder of this user')
})

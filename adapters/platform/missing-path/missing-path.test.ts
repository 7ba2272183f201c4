// What ENOENT means for a person: the folder that is missing, and how to have it again.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findMissingPath } from './missing-path.ts'

const dir = mkdtempSync(join(tmpdir(), 'missing-'))
afterAll(() => rmSync(dir, { recursive: true }))

function failureOf(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}

test('the first missing folder of the path is named, with the command that makes it', () => {
  expect(findMissingPath(failureOf(() => writeFileSync(join(dir, 'run/site/.probe'), '')))).toEqual({
    path: join(dir, 'run'),
    message: `${join(dir, 'run')} is missing`,
    remedy: `run: mkdir -m 700 ${join(dir, 'run')}`,
  })
})

test('a folder that held something is to be restored first', () => {
  const { remedy } = findMissingPath(failureOf(() => readFileSync(join(dir, 'keys/x.json')))) ?? {}
  expect(remedy).toBe(`restore it from a backup, or run: mkdir -m 700 ${join(dir, 'keys')}`)
})

test('a file in a folder that exists is named itself', () => {
  const path = join(dir, 'x.json')
  expect(findMissingPath(failureOf(() => readFileSync(path)))).toMatchObject({ path, message: `${path} is missing` })
})

test('another failure is none of a missing path', () => {
  expect(findMissingPath(new Error('ENOENT'))).toBeUndefined()
  expect(findMissingPath(failureOf(() => readFileSync(dir)))).toBeUndefined()
})

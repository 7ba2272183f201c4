// A secret is read from a private regular file alone, and no error quotes it.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSecretFile, SecretFileError } from './read-secret-file.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'secret-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const secret = 'correct horse battery staple'

function createFile(name: string, mode = 0o600): string {
  const file = path.join(dir, name)
  writeFileSync(file, secret)
  chmodSync(file, mode)
  return file
}

test.each([0o600, 0o400])('a private file (%s) is read', (mode) => {
  expect(readSecretFile(createFile(`private-${mode}`, mode))).toBe(secret)
})

test.each<[string, () => string, string]>([
  ['a missing file', () => path.join(dir, 'missing'), 'cannot be read: it does not exist'],
  ['a folder', () => createFolder(), 'is not a regular file'],
  ['a pipe, without waiting for its writer', () => createPipe(), 'is not a regular file'],
  ['a link', () => createLink(), 'is a link'],
  ['a file that the group can read', () => createFile('group', 0o640), 'can be read by others'],
  ['a file that others can change', () => createFile('others', 0o602), 'can be read by others'],
  ['a file that is too long', () => createLongFile(), 'has 65537 bytes'],
])('%s is refused with the reason', (_, create, reason) => {
  const file = create()
  const error = catchError(() => readSecretFile(file))
  expect(error).toMatchObject({ reason })
  expect(error.message).toContain(`${file} ${reason}`)
  expect(error.reason).not.toContain(dir)
  expect(error.message).not.toContain(secret)
})

function catchError(action: () => unknown): SecretFileError {
  try {
    action()
  } catch (error) {
    if (error instanceof SecretFileError) return error
  }
  throw new Error('nothing was refused')
}

function createFolder(): string {
  const folder = path.join(dir, 'folder')
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

function createPipe(): string {
  const pipe = path.join(dir, 'pipe')
  execFileSync('mkfifo', ['-m', '600', pipe])
  return pipe
}

function createLink(): string {
  const link = path.join(dir, 'link')
  symlinkSync(createFile('target'), link)
  return link
}

function createLongFile(): string {
  const file = createFile('long')
  writeFileSync(file, 'x'.repeat(65_537))
  return file
}

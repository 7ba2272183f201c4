// Secrets of commands: from a private file, stdin or a hidden prompt, and in no argument, message or log.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { startTestSite, type TestSite } from '../support/site/test-site.ts'

const scratch = createScratchFolder('secret-options')
let world: TestSite
let token: string
let url: string
beforeAll(async () => {
  world = await startTestSite()
  token = await world.token({ subject: 'dora', roles: ['auditor'] })
  url = world.url('consensus')
})
afterAll(async () => {
  await world?.end()
  scratch.remove()
})

const list = (...words: string[]) => ['consensus', 'list', '--url', url, ...words]

function writeFile(text: string, mode = 0o600): string {
  const file = path.join(scratch.dir, 'token')
  fs.rmSync(file, { force: true })
  fs.writeFileSync(file, text, { mode })
  return file
}

test('a token comes from a private file, from stdin, or from a hidden prompt', async () => {
  expect(await runCommand(list('--token-file', writeFile(`${token}\n`)))).toMatchObject({ exit: 0 })
  expect(await runCommand(list('--token-file', '-'), { input: `${token}\r\n` })).toMatchObject({ exit: 0 })
  const wrong = await runCommand(list('--token-file', '-'), { input: `${token}x` })
  expect(wrong.exit).toBe(3)
  expect(wrong.stderr).not.toContain(token)
})

test('the file wins over the environment, and is refused beside --token', async () => {
  const env = { PLATFORM_TOKEN: 'of somebody else' }
  expect(await runCommand(list('--token-file', writeFile(token)), { env })).toMatchObject({ exit: 0 })
  const both = await runCommand(list('--token-file', writeFile(token), '--token', 'x'))
  expect([both.exit, both.stderr]).toEqual([2, expect.stringContaining('only one of --token and --token-file')])
})

test.each<[what: string, write: () => string, exit: number, message: string]>([
  ['that others can read', () => writeFile(token, 0o640), 3, 'can be read by others; run: chmod 600'],
  ['that is missing', () => path.join(scratch.dir, 'nothing'), 3, 'cannot be read: it does not exist'],
  ['that is a folder', () => scratch.dir, 3, 'is not a regular file'],
  ['that is empty', () => writeFile('\n'), 2, 'the token is empty'],
])('a file %s is refused with the remedy, and not quoted', async (_, write, exit, message) => {
  const ended = await runCommand(list('--token-file', write()))
  expect([ended.exit, ended.stderr]).toEqual([exit, expect.stringContaining(message)])
  expect(ended.stdout + ended.stderr).not.toContain(token)
})

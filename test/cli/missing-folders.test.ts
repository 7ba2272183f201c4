// A folder of a site that is missing is named with its remedy, by every command that needs it and by the daemon.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, serveSite } from '../support/command/run-command.ts'

const scratch = createScratchFolder('missing-folders')
const whole = path.join(scratch.dir, 'whole')
const site = path.join(scratch.dir, 'alpha')

beforeAll(async () => {
  const init = ['init', '--site', whole, '--tenant', 'alpha', '--port-base', '0', '--yes']
  expect(await runCommand(init)).toMatchObject({ exit: 0 })
})
afterAll(() => scratch.remove())

const commands: readonly (readonly string[])[] = [
  ['doctor'],
  ['status'],
  ['keys', 'list'],
  ['keys', 'generate'],
  ['keys', 'export'],
  ['peers', 'list'],
  ['people', 'list'],
  ['token', 'mint', '--subject', 'ann', '--roles', 'admin'],
  ['token', 'revoke', '--subject', 'ann', '--reason', 'sample'],
  ['store', 'status'],
  ['store', 'check'],
  ['store', 'backup', path.join(scratch.dir, 'backup')],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['filedrop', 'status'],
  ['filedrop', 'quarantine', 'list'],
  ['profile', 'explain'],
]

describe.each(['run', 'data', 'keys', 'identity', 'peers', 'filedrop'])('without %s', (name) => {
  const lose = () => {
    rmSync(site, { recursive: true, force: true })
    rmSync(path.join(scratch.dir, 'backup'), { recursive: true, force: true })
    cpSync(whole, site, { recursive: true })
    rmSync(path.join(site, name), { recursive: true })
  }

  test('no command shows a code of the operating system', async () => {
    for (const words of commands) {
      lose()
      const { exit, stdout, stderr } = await runCommand([...words, '--site', site])
      expect(`${words.join(' ')}: ${stdout}${stderr}`).not.toMatch(/ENOENT|no such file/)
      if (exit !== 0) expect(stderr + stdout).not.toBe('')
    }
  })

  test('the doctor names it once, with the command that makes it again', async () => {
    lose()
    const missing = path.join(site, name)
    const { exit, stdout } = await runCommand(['doctor', '--site', site, '--json'])
    const { findings } = JSON.parse(stdout) as { findings: { detail: string; remedy?: string }[] }
    const named = findings.filter(({ detail }) => detail.includes(`${missing} is missing`))
    expect([exit, named.length]).toEqual([5, 1])
    expect(named[0]?.remedy).toContain(`mkdir -m 700 ${missing}`)
  })

  test('a start either makes it or says what is missing', async () => {
    lose()
    const outcome = await serveSite(site).then(
      async (running) => {
        await running.stop()
        return 'started'
      },
      (error: Error & { problems?: { message: string }[] }) =>
        [error.message, ...(error.problems ?? []).map(({ message }) => message)].join('; '),
    )
    expect(outcome).not.toMatch(/ENOENT|no such file/)
  })
})

test('with the folder that the remedy makes, nothing is missing any more', async () => {
  rmSync(site, { recursive: true, force: true })
  cpSync(whole, site, { recursive: true })
  rmSync(path.join(site, 'run'), { recursive: true })
  mkdirSync(path.join(site, 'run'), { mode: 0o700 })
  const { stdout } = await runCommand(['doctor', '--site', site])
  expect(stdout).not.toContain('is missing')
})

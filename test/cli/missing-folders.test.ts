// A folder of a site that is missing is named with its remedy, by every command that needs it and by the daemon.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const scratch = createScratchFolder('missing-folders')
const whole = path.join(scratch.dir, 'whole')
const site = path.join(scratch.dir, 'alpha')

beforeAll(async () => {
  const init = ['init', '--site', whole, '--tenant', 'alpha', '--port-base', '0', '--yes']
  expect(await runCommand(init)).toMatchObject({ exit: 0 })
})
afterAll(() => scratch.remove())

/** With the modes of its folders, which a copy does not keep: a site that others can read is refused for that alone. */
function copySite(): void {
  rmSync(site, { recursive: true, force: true })
  cpSync(whole, site, { recursive: true })
  const folders = readdirSync(site, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const each of [site, ...folders.map(({ parentPath, name }) => path.join(parentPath, name))])
    chmodSync(each, 0o700)
}

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

/** Folders whose loss loses something; an empty `run` is as good as the lost one. */
const isStored = (name: string) => name !== 'run'

describe.each(['run', 'data', 'keys', 'identity', 'peers', 'filedrop'])('without %s', (name) => {
  const lose = () => {
    rmSync(path.join(scratch.dir, 'backup'), { recursive: true, force: true })
    copySite()
    rmSync(path.join(site, name), { recursive: true })
  }

  test('no command shows a code of the operating system', async () => {
    for (const words of commands) {
      lose()
      const { exit, stdout, stderr } = await runCommand([...words, '--site', site])
      expect(`${words.join(' ')}: ${stdout}${stderr}`).not.toMatch(/ENOENT|no such file/)
      if (exit !== 0) expect(stderr + stdout).not.toBe('')
      expect([words, existsSync(path.join(site, name)) && isStored(name)]).toEqual([words, false])
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

describe('without data, a change that would be recorded', () => {
  const passphrase = path.join(scratch.dir, 'passphrase')
  const exported = path.join(scratch.dir, 'bravo.json')
  const other = path.join(scratch.dir, 'bravo')
  type ListedKey = { readonly kid: string; readonly use: string; readonly role?: string; readonly fingerprint: string }
  const list = async (at: string): Promise<readonly ListedKey[]> =>
    (await runJsonCommand(['keys', 'list', '--site', at])).items
  let tokenKey: string
  let messageKey: string
  beforeAll(async () => {
    writeFileSync(passphrase, 'a passphrase of this test\n', { mode: 0o600 })
    const init = ['init', '--site', other, '--name', 'bravo', '--tenant', 'bravo', '--port-base', '0', '--yes']
    expect(await runCommand(init)).toMatchObject({ exit: 0 })
    expect(await runCommand(['keys', 'export', '--site', other, '--out', exported])).toMatchObject({ exit: 0 })
    tokenKey = (await list(whole)).find(({ use, role }) => use === 'token' && role === undefined)?.kid ?? ''
    messageKey = (await list(other)).find(({ use }) => use === 'message')?.fingerprint ?? ''
  })

  /** Every file of the site with its content. */
  const readFiles = () =>
    readdirSync(site, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [file, readFileSync(file, 'base64')])
      .sort()

  test.each<[string, () => readonly string[]]>([
    ['token mint', () => ['--subject', 'ann', '--roles', 'admin']],
    ['token revoke', () => ['--subject', 'ann', '--reason', 'sample']],
    ['keys generate', () => ['--use', 'token']],
    ['keys wrap', () => ['--passphrase-file', passphrase]],
    ['keys rotate', () => [tokenKey]],
    ['keys revoke', () => [tokenKey, '--yes']],
    [
      'peers add',
      () => ['bravo', '--keys', exported, '--tenant', 'bravo', '--ceiling', 'RESTRICTED', '--fingerprint', messageKey],
    ],
  ])('%s is refused with the remedy, and changes nothing', async (name, options) => {
    copySite()
    rmSync(path.join(site, 'data'), { recursive: true })
    const before = readFiles()
    const { exit, stderr } = await runCommand([...name.split(' '), ...options(), '--site', site])
    expect([exit, stderr]).toEqual([3, expect.stringContaining(`${path.join(site, 'data')} is missing`)])
    expect(stderr).toContain(`mkdir -m 700 ${path.join(site, 'data')}`)
    expect(readFiles()).toEqual(before)
    expect(existsSync(path.join(site, 'data'))).toBe(false)
  })
})

test('with the folder that the remedy makes, nothing is missing any more', async () => {
  copySite()
  rmSync(path.join(site, 'run'), { recursive: true })
  mkdirSync(path.join(site, 'run'), { mode: 0o700 })
  const { stdout } = await runCommand(['doctor', '--site', site])
  expect(stdout).not.toContain('is missing')
})

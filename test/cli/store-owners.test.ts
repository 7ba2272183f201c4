// Root inspects the databases of roles in processes that have their users' rights alone.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { roleDatabaseFile, roleDataFolder, roleRunFolder } from '../../daemon/boot/storage/site-folder.ts'
import { assignFileOwners } from '../../daemon/offline/site/assign-file-owners.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { runCommandProcess } from '../support/command/run-command-process.ts'
import { traceCommand } from '../support/command/trace-command.ts'
import { requires, whenPresent } from '../support/runner/requires.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const isRoot = process.getuid?.() === 0
const test = whenPresent({ isPresent: isRoot, name: 'root', hint: 'only root can change the owner of files' })
const users = { site: 57_001, consensus: 57_002 } as const
const scratch = createScratchFolder('owners')

let world: TestSite
let site: string
beforeAll(async () => {
  world = await createTestSite({ profile: { platform: { roles: ['site', 'consensus'] } } })
  await world.start()
  await world.stop()
  site = path.dirname(world.folder.profile)
  if (!isRoot) return
  // As `platform site divide` leaves it; the folder above is passable.
  fs.chmodSync(path.dirname(site), 0o711)
  assignFileOwners(world.folder, { group: 57_000, users: new Map(Object.entries(users)) })
})
afterAll(async () => {
  await world?.end()
  scratch.remove()
})

test('each database is checked and measured by its user', async () => {
  const checked = await runCommandProcess(['store', 'check', '--site', site, '--json'])
  expect(checked.stderr).toBe('')
  expect(JSON.parse(checked.stdout)).toEqual({
    sound: true,
    items: [
      { role: 'site', faults: [] },
      { role: 'consensus', faults: [] },
    ],
  })
  const status = await runCommandProcess(['store', 'status', '--site', site, '--json'])
  expect(JSON.parse(status.stdout).items.map(({ role }: { role: string }) => role)).toEqual(['site', 'consensus'])
  // Whatever SQLite made beside them belongs to the same user.
  for (const [role, uid] of Object.entries(users)) {
    for (const dir of [roleDataFolder(world.folder, role), roleRunFolder(world.folder, role)])
      for (const name of fs.readdirSync(dir)) expect(fs.lstatSync(path.join(dir, name)).uid, `${dir}/${name}`).toBe(uid)
  }
})

test('a damaged database is reported, and exit code 5', async () => {
  const file = roleDatabaseFile(world.folder, 'consensus')
  const whole = fs.readFileSync(file)
  fs.writeFileSync(file, 'no database')
  const { exit, stdout } = await runCommandProcess(['store', 'check', '--site', site, '--json'])
  expect(exit).toBe(5)
  expect(JSON.parse(stdout).items[1]).toMatchObject({ role: 'consensus', faults: [expect.any(String)] })
  fs.writeFileSync(file, whole)
})

test('a folder of a role that is a link is refused', async () => {
  const dir = roleDataFolder(world.folder, 'consensus')
  fs.renameSync(dir, `${dir}-moved`)
  fs.symlinkSync(`${dir}-moved`, dir)
  const { exit, stdout } = await runCommandProcess(['store', 'check', '--site', site])
  expect([exit, stdout]).toEqual([5, expect.stringContaining('is not a folder')])
  fs.rmSync(dir)
  fs.renameSync(`${dir}-moved`, dir)
})

const traceCalls = (words: readonly string[]) => traceCommand(scratch.dir, [...words, '--site', site]).calls

const traced = isRoot ? requires('strace') : test

traced('a command for the files of the site alone gives them up in its own process', () => {
  const calls = traceCalls(['peers', 'list'])
  expect(calls.filter((call) => /set(re|res)uid\(/.test(call))).toEqual([])
  const opened = calls.findIndex((call) => call.includes(world.folder.peers))
  expect(calls.findIndex((call) => call.includes(`setuid(${users.site})`))).toBeGreaterThan(-1)
  expect(opened).toBeGreaterThan(calls.findIndex((call) => call.includes(`setuid(${users.site})`)))
})

describe('where one user owns the whole site', () => {
  beforeAll(() => {
    if (isRoot)
      assignFileOwners(world.folder, {
        group: 57_000,
        users: new Map([
          ['site', 57_001],
          ['consensus', 57_001],
        ]),
      })
  })

  traced.each([['audit verify'], ['audit export'], ['store status'], ['profile validate']])(
    '%s gives up the rights of root before it opens a file of the site',
    (words) => {
      const calls = traceCalls(words.split(' '))
      expect(calls.filter((call) => /set(re|res)uid\(/.test(call))).toEqual([])
      const switched = calls.findIndex((call) => call.includes(`setuid(${users.site})`))
      const opened = calls.findIndex((call) => call.includes(`"${site}/`))
      expect(switched).toBeGreaterThan(-1)
      expect(opened).toBeGreaterThan(switched)
    },
  )

  test('a file that only root may read is read first, and the action is recorded under the name of root', async () => {
    const [keys, file] = [path.join(scratch.dir, 'ann'), path.join(scratch.dir, 'ann.json')]
    const made = await runCommandProcess(['keys', 'generate', '--use', 'personal', '--dir', keys, '--json'])
    await runCommandProcess(['keys', 'export', '--dir', keys, '--out', file])
    fs.chmodSync(file, 0o600)
    const { fingerprint } = JSON.parse(made.stdout)
    const added = await runCommandProcess(['people', 'add', 'ann', file, '--fingerprint', fingerprint, '--site', site])
    expect(added).toMatchObject({ exit: 0 })
    const { stdout } = await runCommandProcess(['audit', 'export', '--role', 'site', '--site', site])
    const records = stdout.split('\n').filter((line) => line.includes('"target":"ann"'))
    expect(records.map((line) => JSON.parse(line).event.subject)).toEqual(['cli:root'])
  })
})

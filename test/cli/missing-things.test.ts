// What a command says about a role that the site does not run, and about objects that the service does not have.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectKinds } from '../../cli/client/missing-object.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('missing')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const roles = 'roles: [site, consensus, resolution, intelligence]'
  writeFileSync(profile, readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, roles))
  running = await serveSite(site)
})
afterAll(async () => {
  await running.stop()
  remove()
})

const run = (...words: string[]) => runCommand(words, { env })

test('a role that the profile does not name is one to add, and one that it names does not run', async () => {
  const absent = await run('hub', 'nodes')
  expect(absent).toEqual({
    exit: 4,
    stdout: '',
    stderr: "error: This site's profile has no role hub: add it to platform.roles\n",
  })
  const profile = path.join(site, 'profile.yaml')
  const before = readFileSync(profile, 'utf8')
  writeFileSync(profile, before.replace('intelligence]', 'intelligence, hub]'))
  const stopped = await run('hub', 'nodes')
  writeFileSync(profile, before)
  expect(stopped.exit).toBe(4)
  expect(stopped.stderr).toContain('it is not running')
  expect(stopped.stderr).toContain('platform status')
})

test.each([
  [
    ['resolve', 'start', '--lens', 'persons', '--data', 'east=east.csv'],
    'No lens "persons" on the service yet: platform resolve lens create persons',
  ],
  [['consensus', 'get', 'ses_1'], 'No session "ses_1" on the service: platform consensus list lists them'],
  [['consensus', 'cancel', 'ses_1'], 'No session "ses_1" on the service: platform consensus list lists them'],
  [['signal', 'show', 'sig_1'], 'No signal "sig_1" on the service: platform signal list lists them'],
  [['insight', 'show', 'ins_1'], 'No insight "ins_1" on the service: platform insight list lists them'],
  [['resolve', 'show', 'run_1'], 'No run "run_1" on the service: platform resolve runs lists them'],
  [['resolve', 'explain', 'mat_1'], 'No match "mat_1" on the service: platform resolve matches lists them'],
  [
    ['signal', 'bulk', 'show', 'blk_1'],
    'No bulk disposition "blk_1" on the service: platform signal bulk list lists them',
  ],
])('%j', async (words, message) => {
  const { exit, stderr } = await run(...words)
  expect(stderr).toBe(`error: ${message}\n`)
  expect(exit).toBe(1)
})

test('each kind is a collection, and its next step a command', () => {
  const collections = everyRole.flatMap((role) => role.collections.map(({ name }) => name))
  for (const [kind, { next }] of Object.entries(objectKinds)) {
    expect(collections).toContain(kind)
    const command = next('x').replace(/^platform /, '')
    expect(
      Object.keys(commandCatalogue).some((words) => `${command} `.startsWith(`${words} `)),
      command,
    ).toBe(true)
  }
})

test('a contributor that is not enrolled sees its own name, and where contributors are', async () => {
  const { session_id, id = session_id } = await runJsonCommand(
    ['consensus', 'create', '--lens', 'persons', '--lens-version', '1', '--m', '2', '--n', '2'],
    { env },
  )
  const opinion = ['--score', '0.9', '--accuracy', '0.9', '--credibility', '0.9', '--key', 'zoe-1']
  const { exit, stderr } = await run('consensus', 'contribute', id, '--contributor', 'zoe', ...opinion)
  expect(exit).toBe(3)
  expect(stderr).toMatch(
    /under this name and key: .*; you are `cli:[^`]+`; contributors are in consensus\.contributors, or enrolled: platform consensus contributor list$/m,
  )
})

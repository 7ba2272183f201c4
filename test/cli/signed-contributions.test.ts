// By command: a person signs a contribution with the key on their medium, and the evidence proves it with their public key.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('signed')
const site = path.join(dir, 'alpha')
const medium = path.join(dir, 'medium')
const formatPath = (name: string) => path.join(dir, name)
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>
let analyst: { env: Record<string, string> }
let kid: string

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const key = await runJsonCommand(['keys', 'generate', '--use', 'personal', '--dir', medium])
  kid = String(key.kid)
  await runCommand(['keys', 'export', '--dir', medium, '--out', formatPath('ann.json')])
  await runCommand(['keys', 'export', '--out', formatPath('alpha.json')], { env })
  const added = ['people', 'add', 'ann', formatPath('ann.json'), `--fingerprint=${key.fingerprint}`]
  await runJsonCommand(added, { env })
  const profile = path.join(site, 'profile.yaml')
  const sections = parse(readFileSync(profile, 'utf8'))
  const contributors = { ...sections.consensus?.contributors, ann: { signer_keys: [kid], spoken_for_by: ['demo'] } }
  writeFileSync(profile, stringify({ ...sections, consensus: { ...sections.consensus, contributors } }))
  running = await serveSite(site)
  const { token } = await runJsonCommand(
    ['token', 'mint', '--subject', 'demo', '--roles', 'analyst', '--clearance', 'SECRET'],
    { env },
  )
  analyst = { env: { ...env, PLATFORM_TOKEN: token } }
})
afterAll(async () => {
  await running?.stop()
  remove()
})

test('the evidence says that ann vouches for her contribution, by her key', async () => {
  const terms = ['--lens', 'person', '--lens-version', '1', '--m', '1', '--n', '1']
  const { id } = await runJsonCommand(['consensus', 'create', ...terms], analyst)
  const file = path.join(medium, readdirSync(medium).find((name) => name.endsWith('.json')) ?? '')
  const numbers = ['--score', '0.9', '--accuracy', '0.9', '--credibility', '0.9']
  const words = ['consensus', 'contribute', id, '--contributor', 'ann', '--key', kid, ...numbers, '--sign', file]
  expect(await runJsonCommand(words, analyst)).toMatchObject({ state: 'RATIFIED' })
  const block = formatPath('evidence.json')
  await expect
    .poll(async () => (await runCommand(['evidence', 'show', id, '--out', block], { env })).exit, { timeout: 60_000 })
    .toBe(0)
  const shown = await runCommand(['evidence', 'show', id], { env })
  expect(shown.stdout).toMatch(/ann +0\.9 .* signature/)
  const keys = `${formatPath('alpha.json')},ann=${formatPath('ann.json')}`
  const verified = await runCommand(['evidence', 'verify', block, '--keys', keys])
  expect([verified.exit, verified.stdout]).toEqual([0, expect.stringContaining(`ann (${kid}, `)])
  const withoutAnn = await runCommand(['evidence', 'verify', block, '--keys', formatPath('alpha.json')])
  expect(withoutAnn.exit).toBe(0)
  expect(withoutAnn.stdout).toContain('alone; signed in the name of ann, whose keys were not given')
  const pinned = await runCommand(['evidence', 'verify', block], { env })
  expect([pinned.exit, pinned.stdout]).toEqual([0, expect.stringContaining(`ann (${kid}, `)])
  const withoutKeys = await runCommand(['evidence', 'verify', block])
  expect([withoutKeys.exit, withoutKeys.stdout]).toEqual([5, expect.stringContaining('integrity only')])
  const swapped = await runCommand([
    'evidence',
    'verify',
    block,
    '--keys',
    `${formatPath('alpha.json')},ann=${formatPath('alpha.json')}`,
  ])
  expect([swapped.exit, swapped.stdout]).toEqual([5, expect.stringContaining('ann: no trusted key has signed it')])
})

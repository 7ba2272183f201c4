// In profile D a peer can be pinned before its channel is accredited: the commands that pin and list it report so.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('accreditation')
const alpha = path.join(dir, 'alpha')
const keys = path.join(dir, 'keys.json')
const at = { env: { PLATFORM_SITE: alpha } }
let running: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  await runJsonCommand(['init', '--site', alpha, '--tenant', 'acme', '--port-base', '0'])
  await runJsonCommand(['init', '--site', path.join(dir, 'other'), '--profile', 'demo'])
  await runJsonCommand(['keys', 'export', '--site', path.join(dir, 'other'), '--use', 'message', '--out', keys])
  const profile = path.join(alpha, 'profile.yaml')
  const held = '  accreditations: { charlie: { authority: A, reference: R, valid_until: "2099-12-31" } }'
  writeFileSync(profile, readFileSync(profile, 'utf8').replace('site:\n', `site:\n${held}\n`))
  running = await serveSite(alpha)
})
afterAll(async () => {
  await running.stop()
  remove()
})

function addPeer(name: string, ...more: string[]) {
  const [key] = JSON.parse(readFileSync(keys, 'utf8')).keys
  const words = ['peers', 'add', name, '--keys', keys, '--tenant', name, '--ceiling', 'RESTRICTED']
  return runCommand([...words, '--fingerprint', key.platform_fingerprint, ...more], at)
}

const warning = 'warning: the channel to bravo may not be used: it has no accreditation'

test('pinning a peer without accreditation warns, with the setting to set; one that has it does not', async () => {
  const bravo = await addPeer('bravo', '--json')
  expect([bravo.exit, JSON.parse(bravo.stdout).name]).toEqual([0, 'bravo'])
  expect(bravo.stderr).toContain(warning)
  expect(bravo.stderr).toContain('site.accreditations.bravo')
  const charlie = await addPeer('charlie')
  expect([charlie.exit, charlie.stderr.includes('warning')]).toEqual([0, false])
})

test('the running site has no channel for it, and the status says why', async () => {
  const seen = await runCommand(['filedrop', 'status', '--json'], at)
  expect(seen.exit, seen.stderr).toBe(0)
  expect(seen.stderr).toContain(warning)
  expect(seen.stderr).not.toContain('charlie')
  expect(JSON.parse(seen.stdout).items.filter(({ peer }: { peer: string }) => peer === 'bravo')).toEqual([])
  const shown = await runCommand(['filedrop', 'status'], at)
  expect(shown.stdout).toMatch(/^bravo +- +closed +-/m)
  expect(shown.stdout).toMatch(/^charlie +out +open /m)
  expect(shown.stderr).toContain(warning)
  const charlie = await runCommand(['filedrop', 'status', '--peer', 'charlie'], at)
  expect([charlie.stdout.includes('bravo'), charlie.stderr]).toEqual([false, ''])
})

test('the doctor names the setting', async () => {
  const ended = await runCommand(['doctor'], at)
  expect(ended.exit).toBe(5)
  expect(ended.stdout).toMatch(/site\.accreditations\.bravo: the channel to bravo may not be used/)
})

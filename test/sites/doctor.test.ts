// The packaged doctor at a site with several faults at once: it finds each with its repair, and after the repairs none.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DoctorFinding } from '../../daemon/offline/doctor/finding.ts'
import {
  createPackagedFederation,
  type FederatedSite,
  type PackagedFederation,
  pinFederatedPeer,
} from '../support/site/packaged-federation.ts'

let world: PackagedFederation
let alpha: FederatedSite
let bravo: FederatedSite
beforeAll(async () => {
  world = await createPackagedFederation('alpha', 'bravo')
  const { alpha: one, bravo: other } = world.sites
  if (!one || !other) throw new Error('two sites were made')
  alpha = one
  bravo = other
})
afterAll(() => world?.end())

async function runDoctor(): Promise<{ exit: number | null; ill: DoctorFinding[] }> {
  const { exit, stdout } = await alpha.run(['doctor', '--json'])
  const { findings } = JSON.parse(stdout) as { findings: DoctorFinding[] }
  return { exit, ill: findings.filter(({ state }) => state !== 'ok') }
}

const formatAlphaPath = (...names: readonly string[]) => path.join(alpha.dir, ...names)
const findMessageKey = () =>
  formatAlphaPath('keys', fs.readdirSync(formatAlphaPath('keys')).find((name) => name.startsWith('message-')) ?? '')

function changeKey(change: (key: { created: string }) => object): void {
  const stored = JSON.parse(fs.readFileSync(findMessageKey(), 'utf8'))
  fs.writeFileSync(findMessageKey(), JSON.stringify({ ...stored, public_key: change(stored.public_key) }))
}

test('a sound site has no problem', async () => {
  expect((await runDoctor()).exit).toBe(0)
})

test('wrong modes, a channel without its file, a clock before its own keys, a peer’s key near its end: all of them', async () => {
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString()
  const { kid } = await bravo.runJson(['keys', 'generate', '--use', 'message', '--not-after', soon])
  // Nothing goes on in its place.
  const replaced = fs.readdirSync(path.join(bravo.dir, 'keys')).filter((name) => /^message-/.test(name))
  for (const name of replaced) if (name !== `${kid}.json`) fs.rmSync(path.join(bravo.dir, 'keys', name))
  const renewed = { ...bravo, keys: path.join(world.dir, 'renewed.json') }
  await bravo.run(['keys', 'export', '--out', renewed.keys])
  await alpha.runJson(['peers', 'remove', 'bravo', '--yes'])
  await pinFederatedPeer(alpha, renewed)
  const channel = formatAlphaPath('filedrop', 'bravo', 'CHANNEL.json')
  fs.renameSync(channel, `${channel}.away`)
  fs.chmodSync(formatAlphaPath('filedrop', 'bravo', 'in', 'done'), 0o777)
  const { created } = JSON.parse(fs.readFileSync(findMessageKey(), 'utf8')).public_key
  changeKey((key) => ({ ...key, created: new Date(Date.now() + 3_600_000).toISOString() }))

  const { exit, ill } = await runDoctor()
  expect(exit).toBe(5)
  const expectFinding = (check: string, detail: RegExp) => {
    const found = ill.filter((finding) => finding.check === check && detail.test(finding.detail))
    expect(found, `${check} ${detail} in ${JSON.stringify(ill)}`).toHaveLength(1)
    expect(found[0]?.remedy).toBeTruthy()
  }
  expectFinding('permissions', /in\/done/)
  expectFinding('channels', /CHANNEL\.json/)
  expectFinding('clock', /./)
  expectFinding('keys', /bravo/)

  fs.renameSync(`${channel}.away`, channel)
  fs.chmodSync(formatAlphaPath('filedrop', 'bravo', 'in', 'done'), 0o700)
  changeKey((key) => ({ ...key, created }))
  const repaired = await runDoctor()
  expect(repaired.ill.map(({ check, state }) => [check, state])).toEqual([['keys', 'warning']])
  expect(repaired.exit).toBe(0)
})

test('a key that others can read stops none of its checks: it reports it with the command that closes it', async () => {
  fs.chmodSync(findMessageKey(), 0o644)
  const { exit, ill } = await runDoctor()
  expect(exit).toBe(5)
  expect(ill.some(({ remedy }) => remedy?.includes('chmod 600') && remedy.includes(findMessageKey()))).toBe(true)
  fs.chmodSync(findMessageKey(), 0o600)
})

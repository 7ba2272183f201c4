// The packaged doctor at a site that is ill in several ways at once: each is found, with what mends it; mended, it is well.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../daemon/boot/offline/finding.ts'
import { type PackagedSite, type PackagedSites, packagedSites, pin } from '../support/packaged-sites.ts'

let world: PackagedSites
let alpha: PackagedSite
let bravo: PackagedSite
beforeAll(async () => {
  world = await packagedSites('alpha', 'bravo')
  const { alpha: one, bravo: other } = world.sites
  if (!one || !other) throw new Error('two sites were made')
  alpha = one
  bravo = other
})
afterAll(() => world?.end())

async function examined(): Promise<{ exit: number | null; ill: Finding[] }> {
  const { exit, stdout } = await alpha.platform(['doctor', '--json'])
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { exit, ill: findings.filter(({ state }) => state !== 'ok') }
}

const inAlpha = (...names: readonly string[]) => path.join(alpha.dir, ...names)
const aKey = () => inAlpha('keys', fs.readdirSync(inAlpha('keys')).find((name) => name.startsWith('message-')) ?? '')

function changeKey(change: (key: { created: string }) => object): void {
  const stored = JSON.parse(fs.readFileSync(aKey(), 'utf8'))
  fs.writeFileSync(aKey(), JSON.stringify({ ...stored, public_key: change(stored.public_key) }))
}

test('a sound site has no problem', async () => {
  expect((await examined()).exit).toBe(0)
})

test('wrong modes, a channel without its file, a clock before its own keys, a peer’s key near its end: all of them', async () => {
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString()
  const { kid } = await bravo.answered(['keys', 'generate', '--use', 'message', '--not-after', soon])
  // Nothing goes on in its place.
  const replaced = fs.readdirSync(path.join(bravo.dir, 'keys')).filter((name) => /^message-/.test(name))
  for (const name of replaced) if (name !== `${kid}.json`) fs.rmSync(path.join(bravo.dir, 'keys', name))
  const renewed = { ...bravo, keys: path.join(world.dir, 'renewed.json') }
  await bravo.platform(['keys', 'export', '--out', renewed.keys])
  await alpha.answered(['peers', 'remove', 'bravo', '--yes'])
  await pin(alpha, renewed)
  const channel = inAlpha('filedrop', 'bravo', 'CHANNEL.json')
  fs.renameSync(channel, `${channel}.away`)
  fs.chmodSync(inAlpha('filedrop', 'bravo', 'in', 'done'), 0o777)
  const { created } = JSON.parse(fs.readFileSync(aKey(), 'utf8')).public_key
  changeKey((key) => ({ ...key, created: new Date(Date.now() + 3_600_000).toISOString() }))

  const { exit, ill } = await examined()
  expect(exit).toBe(5)
  const told = (check: string, detail: RegExp) => {
    const found = ill.filter((finding) => finding.check === check && detail.test(finding.detail))
    expect(found, `${check} ${detail} in ${JSON.stringify(ill)}`).toHaveLength(1)
    expect(found[0]?.remedy).toBeTruthy()
  }
  told('permissions', /in\/done/)
  told('channels', /CHANNEL\.json/)
  told('clock', /./)
  told('keys', /bravo/)

  fs.renameSync(`${channel}.away`, channel)
  fs.chmodSync(inAlpha('filedrop', 'bravo', 'in', 'done'), 0o700)
  changeKey((key) => ({ ...key, created }))
  const mended = await examined()
  expect(mended.ill.map(({ check, state }) => [check, state])).toEqual([['keys', 'warning']])
  expect(mended.exit).toBe(0)
})

test('a key that others can read stops the doctor from nothing: it is told with the command that closes it', async () => {
  fs.chmodSync(aKey(), 0o644)
  const { exit, ill } = await examined()
  expect(exit).toBe(5)
  expect(ill.some(({ remedy }) => remedy?.includes('chmod 600') && remedy.includes(aKey()))).toBe(true)
  fs.chmodSync(aKey(), 0o600)
})

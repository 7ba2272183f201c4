// A registry goes as a signed file to a site that only looks records up: what it may see, and nothing that was tampered with.
import * as fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../daemon/roles/resolution/arrival/create.ts'
import { lookup } from '../../daemon/roles/resolution/entity/lookup.ts'
import { start } from '../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { get } from '../../daemon/roles/resolution/registry/get.ts'
import { buildPeople, buildPersonLens } from '../roles/resolution/resolution-site.ts'
import { runCommand } from '../support/command/run-command.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import {
  createPackagedFederation,
  editProfile,
  type PackagedFederation,
  pinFederatedPeer,
} from '../support/site/packaged-federation.ts'
import { sharedClassification } from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

/** For alpha and no other. */
const keptClassification = { level: 'CONFIDENTIAL', releasable_to: ['alpha'] }

let world: PackagedFederation
let people: Record<'alpha' | 'bravo', CheckedClient>
beforeAll(async () => {
  world = await createPackagedFederation('alpha', 'bravo')
  for (const name of ['alpha', 'bravo']) {
    const pattern = name === 'alpha' ? {} : { matching_pattern: 'lookup_only' }
    editProfile(requireSite(name), { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0, ...pattern } })
  }
  await Promise.all([requireSite('alpha').start(), requireSite('bravo').start()])
  const of = (name: string) => requireSite(name).as('demo', ['operator', 'admin'])
  people = { alpha: await of('alpha'), bravo: await of('bravo') }
  await people.alpha.ok(create, { body: buildPersonLens(), classification: sharedClassification })
  const nodes = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }
  const { run_id } = await people.alpha.ok(start, {
    lens_id: 'people',
    node_data: nodes,
    classification: sharedClassification,
  })
  await waitUntil(async () => (await people.alpha.ok(status, { run_id })).state === 'completed')
  // Alpha knows one more record of person 12, and a person of whom bravo may not know at all.
  const records = [buildPersonAs('a-first', 12), buildPersonAs('secret', 77)]
  const arrival = await people.alpha.ok(arrive, {
    node_id: 'a-vault',
    records: records as never,
    classification: keptClassification,
  })
  expect(arrival).toMatchObject({ state: 'matched', items: [{ size: 4 }, { size: 1 }] })
})
afterAll(() => world?.end())

function requireSite(name: string) {
  const site = world.sites[name]
  if (!site) throw new Error(`there is no ${name}`)
  return site
}

function buildPersonAs(id: string, number: number) {
  return { ...buildPeople(number, number + 1)[0], id }
}

function buildRecord(number: number) {
  const { id: _id, ...record } = buildPeople(number, number + 1)[0] ?? { id: '' }
  return record
}

function formatPath(name: string): string {
  return path.join(world.dir, name)
}

async function exportSnapshot(name: string, to = 'bravo') {
  const file = formatPath(name)
  const manifest = await requireSite('alpha').runJson(['resolve', 'registry', 'export', '--to', to, '--out', file])
  return { file, manifest }
}

/** In this process, but for one: the executable takes a while to start. */
async function importSnapshot(file: string, site = 'bravo') {
  const { exit, stderr } = await runCommand(['resolve', 'registry', 'import', file, '--site', requireSite(site).dir])
  return { exit, stderr }
}

async function readHeldSnapshot() {
  return (await people.bravo.ok(get, {})).snapshots
}

test('before a snapshot is there nothing is found; matching and deciding are refused with the reason', async () => {
  expect(await people.bravo.refusal(lookup, { record: buildRecord(12) })).toBe('not_found')
  expect(await people.bravo.refusal(create, { body: buildPersonLens() })).toBe('wrong_state')
  const node_data = { east: buildPeople(0, 3) }
  expect(await people.bravo.refusal(start, { lens_id: 'people', node_data })).toBe('wrong_state')
  expect(await people.bravo.refusal(arrive, { node_id: 'east', records: buildPeople(0, 1) })).toBe('wrong_state')
  const { stderr, exit } = await importSnapshot(formatPath('nothing'), 'alpha')
  expect([exit, stderr]).toEqual([3, expect.stringContaining('matches records itself')])
})

test('the snapshot has what the peer may see; lookups there say what alpha says, and tell nothing of the rest', async () => {
  const { file, manifest } = await exportSnapshot('first.snapshot')
  expect(manifest).toMatchObject({ from: 'alpha', to: 'bravo', records: 105, entities: 50 })
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  const text = fs.readFileSync(file, 'utf8')
  for (const hidden of ['a-vault', 'a-first', buildPersonAs('', 77).surname]) expect(text).not.toContain(hidden)
  expect(await requireSite('bravo').run(['resolve', 'registry', 'import', file])).toMatchObject({ exit: 0 })
  const [there, here] = await Promise.all(
    [people.bravo, people.alpha].map(async (who) => (await who.ok(lookup, { record: buildRecord(20) })).entities[0]),
  )
  expect(there).toMatchObject({ size: 3, above_cut: true, entity: here?.entity, bits: here?.bits, steps: here?.steps })
  const [part] = (await people.bravo.ok(lookup, { record: buildRecord(12) })).entities
  expect(part).toMatchObject({ size: 3, above_cut: true })
  const [whole] = (await people.alpha.ok(lookup, { record: buildRecord(12) })).entities
  expect(whole).toMatchObject({ size: 4 })
  expect(part?.entity).not.toBe(whole?.entity)
  const unknown = (await people.bravo.ok(lookup, { record: buildRecord(77) })).entities
  expect(unknown.some(({ above_cut }) => above_cut)).toBe(false)
})

test('status tells which snapshot is in use and how old it is, to whom may know of all of it', async () => {
  const [snapshot] = await readHeldSnapshot()
  expect(snapshot).toMatchObject({ lens: 'people', lens_version: '1.0.0', from: 'alpha', records: 105, entities: 50 })
  expect(snapshot?.age_s).toBeLessThan(600)
  const low = await requireSite('bravo').as('low', ['analyst'], 'UNCLASSIFIED')
  expect((await low.ok(get, {})).snapshots).toEqual([])
  expect(await low.refusal(lookup, { record: buildRecord(12) })).toBe('not_found')
})

test('refuses a forged, cut, lengthened, packed, foreign or older snapshot whole, and keeps the present one', async () => {
  const before = await readHeldSnapshot()
  const first = fs.readFileSync(formatPath('first.snapshot'))
  const newer = await exportSnapshot('newer.snapshot')
  const text = fs.readFileSync(newer.file, 'utf8')
  const lines = text.trimEnd().split('\n')
  const last = JSON.parse(lines.at(-1) ?? '') as { form: string; signed: { payload: string; signatures: object[] } }
  const announced = JSON.parse(Buffer.from(last.signed.payload, 'base64url').toString('utf8')) as object
  const resigned = (more: object) =>
    JSON.stringify({ ...last, signed: { ...last.signed, payload: encodeBase64url({ ...announced, ...more }) } })
  const body = lines.slice(0, -1).join('\n')
  const forged: Readonly<Record<string, string | Buffer>> = {
    content: text.replace('"1.0.0"', '"1.0.1"'),
    value: text.replace(/"surname":"./, '"surname":"x'),
    version: `${body}\n${resigned({ version: Number.MAX_SAFE_INTEGER })}\n`,
    sender: `${body}\n${resigned({ from: 'bravo' })}\n`,
    stranger: `${body}\n${resigned({ from: 'nobody' })}\n`,
    cut: text.slice(0, text.length / 2),
    unended: text.trimEnd(),
    less: `${lines.slice(1).join('\n')}\n`,
    more: `${lines[0]}\n${text}`,
    order: `${[...lines.slice(0, 2), ...lines.slice(2, -1).reverse(), lines.at(-1)].join('\n')}\n`,
    empty: '',
    packed: gzipSync(Buffer.alloc(50_000_000)),
    endless: Buffer.alloc(6_000_000, 0x20),
    note: 'hello\n',
  }
  for (const [name, content] of Object.entries(forged)) {
    const file = formatPath(`forged-${name}`)
    fs.writeFileSync(file, content)
    const { exit, stderr } = await importSnapshot(file)
    expect([name, exit, stderr]).toEqual([name, 5, expect.stringContaining('nothing was imported')])
  }
  expect(await readHeldSnapshot()).toEqual(before.map((each) => ({ ...each, age_s: expect.any(Number) })))
  expect(await importSnapshot(newer.file)).toMatchObject({ exit: 0 })
  fs.writeFileSync(formatPath('replayed'), first)
  const replayed = await importSnapshot(formatPath('replayed'))
  expect([replayed.exit, replayed.stderr]).toEqual([3, expect.stringContaining('current snapshot is newer')])
  expect(await importSnapshot(newer.file)).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('imported already'),
  })
  expect((await readHeldSnapshot())[0]?.version).toBe(newer.manifest.version)
  expect(fs.readdirSync(path.join(requireSite('bravo').dir, 'data/resolution/snapshots'))).toEqual(['people.snapshot'])
})

test('one that was made for another site, of another tenant, or is larger than the site takes, is refused', async () => {
  // A site with bravo's keys under another name is another site.
  await pinFederatedPeer(requireSite('alpha'), { ...requireSite('bravo'), name: 'charlie' })
  const { file } = await exportSnapshot('for-charlie.snapshot', 'charlie')
  expect(await importSnapshot(file)).toMatchObject({ exit: 3, stderr: expect.stringContaining('made for charlie') })
  expect(await importSnapshot(world.dir)).toMatchObject({ exit: 1, stderr: expect.stringContaining('is not a file') })
  const last = await exportSnapshot('last.snapshot')
  const peer = path.join(requireSite('bravo').dir, 'peers/alpha.json')
  const pinned = fs.readFileSync(peer, 'utf8')
  fs.writeFileSync(
    peer,
    pinned
      .replace('"tenant_id":"alpha"', '"tenant_id":"other"')
      .replace('"tenant_id": "alpha"', '"tenant_id": "other"'),
  )
  expect(await importSnapshot(last.file)).toMatchObject({ exit: 3, stderr: expect.stringContaining('another tenant') })
  fs.writeFileSync(peer, pinned)
  editProfile(requireSite('bravo'), { resolution: { lookup_records: 50 } })
  expect(await importSnapshot(last.file)).toMatchObject({ exit: 3, stderr: expect.stringContaining('50 at most') })
  editProfile(requireSite('bravo'), { resolution: { lookup_records: 250_000, snapshot_mb: 1 } })
  fs.writeFileSync(last.file, Buffer.alloc(1_048_577))
  expect(await importSnapshot(last.file)).toMatchObject({ exit: 3, stderr: expect.stringContaining('larger than') })
})

test('a registry is shown to peers alone, and only under labels that may cross', async () => {
  const words = ['resolve', 'registry', 'export', '--out', formatPath('none.snapshot'), '--to']
  expect(await requireSite('alpha').run([...words, 'nobody'])).toMatchObject({ exit: 3 })
  expect(fs.existsSync(formatPath('none.snapshot'))).toBe(false)
  const again = await requireSite('alpha').run([
    'resolve',
    'registry',
    'export',
    '--out',
    formatPath('first.snapshot'),
    '--to',
    'bravo',
  ])
  expect([again.exit, again.stderr]).toEqual([3, expect.stringContaining('already exists')])
})

function encodeBase64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

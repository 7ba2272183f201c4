// Polled sources end to end: each item once, whatever breaks off; what is none is kept with the reason; trouble is told and waited out.
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as refusedList } from '../../../daemon/roles/intelligence/intake/source/refused.ts'
import { test as tried } from '../../../daemon/roles/intelligence/intake/source/test.ts'
import { type SiteWorld, siteWorld, until } from '../../support/site-world.ts'
import { anAlert, mapping, signalsOf, sourceOf, tempDir } from './intake-world.ts'

const files = tempDir()
const folder = path.join(files.dir, 'in')
fs.mkdirSync(folder)
let alerts: unknown[] = []
let status = 200
const server = http.createServer((_request, response) => {
  response.writeHead(status).end(JSON.stringify({ alerts }))
})
let world: SiteWorld
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  const { id: _id, ...nameless } = mapping
  const sources = [
    { kind: 'folder', name: 'drop', path: folder, mapping: nameless, every_s: 1, classification: 'RESTRICTED' },
    { kind: 'http', name: 'feed', url, mapping: { ...mapping, items: '/alerts' }, every_s: 1 },
    {
      kind: 'folder',
      name: 'nowhere',
      path: path.join(files.dir, 'nothing'),
      mapping,
      every_s: 1,
      tenant_id: 'tenant-b',
    },
  ]
  const profile = { platform: { roles: ['site', 'intelligence'] }, intelligence: { port: 0 }, intake: { sources } }
  world = await siteWorld({ profile })
})
afterAll(async () => {
  await world?.end()
  await new Promise((resolve) => server.close(resolve))
  files.remove()
  expect(world?.faults ?? []).toEqual([])
})

function put(name: string, lines: readonly unknown[]): void {
  fs.writeFileSync(path.join(folder, `${name}.draft`), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
  fs.renameSync(path.join(folder, `${name}.draft`), path.join(folder, name))
}

/** Looks, and lets the time go by that a source waits for, until it holds. */
function soon<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  return until(async () => {
    world.clock.advance(61_000)
    world.wake('intelligence', 'intake')
    return look()
  })
}
const titles = async (name: string) =>
  (await signalsOf(world)).filter(({ source }) => source.name === name).map(({ title }) => title)
const has = (name: string, title: string) => soon(async () => (await titles(name)).includes(title))
const lying = (where: string) => fs.readdirSync(path.join(folder, where)).sort()

test('each line of a file is a signal, and the file is then done; the same file again raises nothing', async () => {
  const lines = [anAlert(1), anAlert(2), anAlert(2)]
  put('one.jsonl', lines)
  await soon(async () => fs.existsSync(path.join(folder, 'done/one.jsonl')))
  expect((await titles('drop')).sort()).toEqual(['Alert 1', 'Alert 2', 'Alert 2'])
  put('two.jsonl', lines)
  await soon(async () => fs.existsSync(path.join(folder, 'done/two.jsonl')))
  expect(await titles('drop')).toHaveLength(3)
  expect(await soon(async () => sourceOf(world, 'drop'))).toMatchObject({
    taken: 3,
    repeated: 3,
    refused: 0,
    failed: 0,
  })
  const [signal] = (await signalsOf(world)).filter(({ source }) => source.name === 'drop')
  expect(signal).toMatchObject({ source: { type: 'polling' }, classification: { level: 'RESTRICTED' } })
})

test('a file with a line that is no signal is refused whole, with each reason; mended, it is taken', async () => {
  put('bad.jsonl', [anAlert('b1'), anAlert('b2', { name: null }), anAlert('b3', { time: '2040-01-01T00:00:00Z' })])
  await soon(async () => fs.existsSync(path.join(folder, 'refused/bad.jsonl')))
  const { faults } = JSON.parse(fs.readFileSync(path.join(folder, 'refused/bad.jsonl.reason.json'), 'utf8'))
  expect(faults).toMatchObject([{ line: 2, detail: expect.stringContaining('title') }, { line: 3 }])
  expect(await titles('drop')).not.toContain('Alert b1')
  put('bad.jsonl', [anAlert('b1'), anAlert('b2')])
  await has('drop', 'Alert b2')
  expect(await soon(async () => sourceOf(world, 'drop'))).toMatchObject({ refused: 1, last_error: { code: 'invalid' } })
})

test('a source that is killed between raising and settling doubles nothing', async () => {
  put('killed.jsonl', [anAlert('k1'), anAlert('k2')])
  await soon(async () => fs.existsSync(path.join(folder, 'done/killed.jsonl')))
  // As if the process had died before the file was moved: it lies there again.
  fs.renameSync(path.join(folder, 'done/killed.jsonl'), path.join(folder, 'killed.jsonl'))
  await world.restart()
  await soon(async () => lying('').every((name) => name !== 'killed.jsonl'))
  expect((await titles('drop')).filter((title) => /k\d$/.test(title)).sort()).toEqual(['Alert k1', 'Alert k2'])
})

test('items of a server are raised once each by their ids; what is no signal is kept, once', async () => {
  alerts = [anAlert('h1'), anAlert('h2', { host: null }), anAlert('h3')]
  await has('feed', 'Alert h3')
  alerts = [...alerts, anAlert('h4')]
  await has('feed', 'Alert h4')
  await world.restart()
  alerts = [...alerts, anAlert('h5')]
  await has('feed', 'Alert h5')
  expect((await titles('feed')).sort()).toEqual(['Alert h1', 'Alert h3', 'Alert h4', 'Alert h5'])
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  const { items } = await olga.ok(refusedList, { name: 'feed' })
  expect(items).toMatchObject([{ source: 'feed', detail: expect.stringContaining('subject.id') }])
  expect(JSON.parse(items[0]?.item ?? '')).toEqual(anAlert('h2', { host: null }))
  const guest = await world.as({ subject: 'bea', tenant: 'tenant-b', roles: ['operator'] })
  expect((await guest.ok(refusedList, { name: 'feed' })).items).toEqual([])
})

test('a source that fails says so, is asked less often, and is taken up when it works again', async () => {
  status = 500
  const failed = await soon(async () => {
    const source = await sourceOf(world, 'feed')
    return source.failed >= 2 && source
  })
  expect(failed.last_error).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('500') })
  status = 200
  alerts = [anAlert('back')]
  await has('feed', 'Alert back')
})

test('a source is tried without raising anything', async () => {
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  alerts = [anAlert('t1'), anAlert('t2', { name: null })]
  status = 500
  expect(await olga.ok(tried, { name: 'feed' })).toMatchObject({ ok: false, detail: expect.stringContaining('500') })
  const sample = { alerts }
  const found = await olga.ok(tried, { name: 'feed', sample })
  expect(found).toMatchObject({ ok: false, items: 2, refused: 1, signals: [{ title: 'Alert t1' }] })
  expect(found.faults).toEqual([expect.stringContaining('title')])
  expect(await titles('feed')).not.toContain('Alert t1')
  expect(await olga.refusal(tried, { name: 'nowhere' })).toBe('not_found')
  expect(await (await world.as()).refusal(tried, { name: 'feed' })).toBe('forbidden')
})

// Polled sources end to end: each item once, after every interruption; invalid ones with the reason; trouble is reported.
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as refusedList } from '../../../daemon/roles/intelligence/signal-source/refused.ts'
import { test as tried } from '../../../daemon/roles/intelligence/signal-source/test.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildAlert, createTempFolder, listSignals, readSourceStatus, sampleMapping } from './intake-sender.ts'

const files = createTempFolder()
const folder = path.join(files.dir, 'in')
fs.mkdirSync(folder)
let alerts: unknown[] = []
let status = 200
const server = http.createServer((_request, response) => {
  response.writeHead(status).end(JSON.stringify({ alerts }))
})
let world: TestSite
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  const { id: _id, ...nameless } = sampleMapping
  const sources = [
    { kind: 'folder', name: 'drop', path: folder, mapping: nameless, every_s: 1, classification: 'RESTRICTED' },
    { kind: 'http', name: 'feed', url, mapping: { ...sampleMapping, items: '/alerts' }, every_s: 1 },
    {
      kind: 'folder',
      name: 'nowhere',
      path: path.join(files.dir, 'nothing'),
      mapping: sampleMapping,
      every_s: 1,
      tenant_id: 'tenant-b',
    },
  ]
  const profile = { platform: { roles: ['site', 'intelligence'] }, intelligence: { port: 0 }, intake: { sources } }
  world = await startTestSite({ profile })
})
afterAll(async () => {
  await world?.end()
  await new Promise((resolve) => server.close(resolve))
  files.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

function writeLines(name: string, lines: readonly unknown[]): void {
  fs.writeFileSync(path.join(folder, `${name}.draft`), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
  fs.renameSync(path.join(folder, `${name}.draft`), path.join(folder, name))
}

/** Looks, and lets the time go by that a source waits for, until it holds. */
function waitAdvancing<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  return waitUntil(async () => {
    world.clock.advance(61_000)
    world.wakeWorker('intelligence', 'intake')
    return look()
  })
}
/** The status of a source, once it has counted these: a file moves before or after its items are counted. */
const waitForCount = (name: string, counter: 'repeated' | 'refused' | 'failed', least: number) =>
  waitAdvancing(async () => {
    const status = await readSourceStatus(world, name)
    return status[counter] >= least && status
  })
const listTitles = async (name: string) =>
  (await listSignals(world)).filter(({ source }) => source.name === name).map(({ title }) => title)
const waitForTitle = (name: string, title: string) =>
  waitAdvancing(async () => (await listTitles(name)).includes(title))
const listFiles = (where: string) => fs.readdirSync(path.join(folder, where)).sort()

test('each line of a file is a signal, and the file is then done; the same file again raises nothing', async () => {
  const lines = [buildAlert(1), buildAlert(2), buildAlert(2)]
  writeLines('one.jsonl', lines)
  await waitAdvancing(async () => fs.existsSync(path.join(folder, 'done/one.jsonl')))
  expect((await listTitles('drop')).sort()).toEqual(['Alert 1', 'Alert 2', 'Alert 2'])
  writeLines('two.jsonl', lines)
  await waitAdvancing(async () => fs.existsSync(path.join(folder, 'done/two.jsonl')))
  expect(await listTitles('drop')).toHaveLength(3)
  const counted = await waitForCount('drop', 'repeated', 3)
  expect(counted).toMatchObject({ taken: 3, refused: 0, failed: 0 })
  const [signal] = (await listSignals(world)).filter(({ source }) => source.name === 'drop')
  expect(signal).toMatchObject({ source: { type: 'polling' }, classification: { level: 'RESTRICTED' } })
})

test('a file with an invalid line is refused whole, with each reason; corrected, it is taken', async () => {
  writeLines('bad.jsonl', [
    buildAlert('b1'),
    buildAlert('b2', { name: null }),
    buildAlert('b3', { time: '2040-01-01T00:00:00Z' }),
  ])
  await waitAdvancing(async () => fs.existsSync(path.join(folder, 'refused/bad.jsonl')))
  const { faults } = JSON.parse(fs.readFileSync(path.join(folder, 'refused/bad.jsonl.reason.json'), 'utf8'))
  expect(faults).toMatchObject([{ line: 2, detail: expect.stringContaining('title') }, { line: 3 }])
  expect(await listTitles('drop')).not.toContain('Alert b1')
  writeLines('bad.jsonl', [buildAlert('b1'), buildAlert('b2')])
  await waitForTitle('drop', 'Alert b2')
  expect(await waitForCount('drop', 'refused', 1)).toMatchObject({ last_error: { code: 'invalid' } })
})

test('a source that is killed between raising and settling doubles nothing', async () => {
  writeLines('killed.jsonl', [buildAlert('k1'), buildAlert('k2')])
  await waitAdvancing(async () => fs.existsSync(path.join(folder, 'done/killed.jsonl')))
  // As if the process had died before the file was moved: it lies there again.
  fs.renameSync(path.join(folder, 'done/killed.jsonl'), path.join(folder, 'killed.jsonl'))
  await world.restart()
  await waitAdvancing(async () => listFiles('').every((name) => name !== 'killed.jsonl'))
  expect((await listTitles('drop')).filter((title) => /k\d$/.test(title)).sort()).toEqual(['Alert k1', 'Alert k2'])
})

test('raises items of a server once each by their ids; stores an invalid one once', async () => {
  alerts = [buildAlert('h1'), buildAlert('h2', { host: null }), buildAlert('h3')]
  await waitForTitle('feed', 'Alert h3')
  alerts = [...alerts, buildAlert('h4')]
  await waitForTitle('feed', 'Alert h4')
  await world.restart()
  alerts = [...alerts, buildAlert('h5')]
  await waitForTitle('feed', 'Alert h5')
  expect((await listTitles('feed')).sort()).toEqual(['Alert h1', 'Alert h3', 'Alert h4', 'Alert h5'])
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  const { items } = await olga.ok(refusedList, { name: 'feed' })
  expect(items).toMatchObject([{ source: 'feed', detail: expect.stringContaining('subject.id') }])
  expect(JSON.parse(items[0]?.item ?? '')).toEqual(buildAlert('h2', { host: null }))
  const otherTenantUser = await world.as({ subject: 'bea', tenant: 'tenant-b', roles: ['operator'] })
  expect((await otherTenantUser.ok(refusedList, { name: 'feed' })).items).toEqual([])
})

test('a failing source reports it, is polled less often, and is resumed when it works again', async () => {
  status = 500
  const failed = await waitForCount('feed', 'failed', 2)
  expect(failed.last_error).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('500') })
  status = 200
  alerts = [buildAlert('back')]
  await waitForTitle('feed', 'Alert back')
})

test('a source is tried without raising anything', async () => {
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  alerts = [buildAlert('t1'), buildAlert('t2', { name: null })]
  status = 500
  expect(await olga.ok(tried, { name: 'feed' })).toMatchObject({ ok: false, detail: expect.stringContaining('500') })
  const sample = { alerts }
  const found = await olga.ok(tried, { name: 'feed', sample })
  expect(found).toMatchObject({ ok: false, items: 2, refused: 1, signals: [{ title: 'Alert t1' }] })
  expect(found.faults).toEqual([expect.stringContaining('title')])
  expect(await listTitles('feed')).not.toContain('Alert t1')
  expect(await olga.refusal(tried, { name: 'nowhere' })).toBe('not_found')
  expect(await (await world.as()).refusal(tried, { name: 'feed' })).toBe('forbidden')
})

test('the health names the sources that cannot be polled, and why', async () => {
  const token = await world.token({ roles: ['operator'] })
  const readHealth = async () => {
    const { json } = await world.call('intelligence', 'GET', '/api/v1/health', undefined, { token })
    const { status: whole, dependencies } = json as {
      status: string
      dependencies: { name: string; state: string; detail: string }[]
    }
    const stateOf = (name: string) => dependencies.find((each) => each.name === `source ${name}`)
    return { whole, drop: stateOf('drop'), feed: stateOf('feed'), nowhere: stateOf('nowhere') }
  }
  const polled = { state: 'ok', detail: expect.stringMatching(/^polled, /) }
  const missing = { state: 'down', detail: expect.stringMatching(/, \d{4}-\d\d-\d\dT/) }
  status = 200
  await waitAdvancing(async () => (await readHealth()).feed?.state === 'ok')
  expect(await readHealth()).toMatchObject({ whole: 'degraded', drop: polled, feed: polled, nowhere: missing })
  status = 500
  await waitAdvancing(async () => (await readHealth()).feed?.state === 'down')
  expect((await readHealth()).feed?.detail).toMatch(/500/)
  expect(JSON.stringify(await readHealth())).not.toContain(files.dir)
  status = 200
  await waitAdvancing(async () => (await readHealth()).feed?.state === 'ok')
})

// Shows on a real server that one trouble stays one: a collection that is gone, a document that is too large, a silent cluster.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { openClusterStore } from '../../conformance/opensearch-arm.ts'
import { aLabel, aNote, anEvent, notes } from '../../conformance/store-requirement.ts'
import { type CuttingProxy, cuttingProxy } from '../../support/engines/cutting-proxy.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'

const where = whenPresent(opensearchWanted)
const still = new AbortController().signal
/** Beside the usual notes. */
const others = { ...notes, name: 'other' }
const most_bytes = 2_000_000

let server: OpenSearch
let proxy: CuttingProxy
let folder: string
let prefix: string
let opened: ReturnType<typeof openClusterStore>

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch(undefined, [`http.max_content_length: ${most_bytes}b`])
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(async () => {
  if (!opensearchWanted.isPresent) return
  folder = mkdtempSync(path.join(tmpdir(), 'flow-'))
  proxy = await cuttingProxy(server.url)
  prefix = `flow${randomUUID()}-`
  opened = open()
  onTestFinished(async () => {
    await opened.close()
    await proxy.end()
    rmSync(folder, { recursive: true, force: true })
  })
})

function open() {
  const rooms = { each: { writes: 40, bytes: 20_000_000 }, all: { writes: 60, bytes: 40_000_000 } }
  return openClusterStore(proxy.url, folder, prefix, 1_500, rooms)
}

const targets = async () => (await opened.audit.list({ limit: 99, ascending: true })).map(({ event }) => event?.target)

where('a collection that is gone holds up neither the others nor the copies of the chain', async () => {
  const { store, owed, shipping } = opened
  for (const each of [notes, others]) await store.create(each, 'n1', aNote())
  proxy.cut('silence', /_bulk/)
  const puts = [notes, others].map((each) => store.put(each, 'n1', aNote(), 1, [anEvent({ target: each.name })]))
  const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) }
  expect(await Promise.allSettled(puts)).toEqual([refused, refused])
  proxy.mend()
  await server.ask('DELETE', `/${prefix}note-1`)
  expect(await store.settle()).toEqual(new Map([['note', 'index_not_found_exception']]))
  expect(await targets()).toEqual(['other'])
  expect(await owed.begun()).toHaveLength(1)
  expect(await store.get(others, 'n1')).toMatchObject({ version: 2 })
  expect(await shipping.ship(still)).toEqual({ count: 1 })
  const { ok, detail } = await store.health()
  expect([ok, detail]).toEqual([false, expect.stringMatching(/lost: .*-note: .*; 1 writes to be settled/)])
  // What removes by a filter must know of the doubt in its own collection alone.
  expect(await store.removeWhere(others, { count: 99 })).toBe(0)
  await expect(store.removeWhere(notes, {})).rejects.toMatchObject({ code: 'unavailable' })
})

where('documents that are too large together go all the same, and one that is too large alone is refused', async () => {
  const { store, owed } = opened
  const large = (n: number) => aNote({ title: `${n}${'x'.repeat(most_bytes / 5)}` })
  const creating = Array.from({ length: 12 }, (_, n) => store.create(notes, `n${n}`, large(n)))
  const tooLarge = store.create(notes, 'much', aNote({ title: 'y'.repeat(most_bytes) }), [anEvent()])
  await expect(tooLarge).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('document') })
  for (const made of await Promise.all(creating)) expect(made).toMatchObject({ version: 1 })
  expect(await store.count(notes, {}, { fresh: true })).toBe(12)
  expect(await owed.begun()).toEqual([])
  expect(await targets()).toEqual([])
  await store.load(
    others,
    creating.map((_, n) => ({ id: `n${n}`, version: 3, value: large(n) })),
  )
  expect(await store.get(others, 'n11')).toMatchObject({ version: 3 })
})

where('audit records that are too large together are shipped all the same', async () => {
  const { audit, shipping, shippedTo } = opened
  const events = Array.from({ length: 30 }, () => anEvent({ detail: { text: 'z'.repeat(most_bytes / 9) } }))
  await audit.append(events)
  expect(await shipping.ship(still)).toEqual({ count: 30 })
  expect(shippedTo.get()).toBe(30)
  await audit.append([anEvent(), anEvent({ detail: { text: 'z'.repeat(most_bytes) } })])
  for (let n = 0; n < 2; n++) {
    await expect(shipping.ship(still)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/ 32 /),
    })
    expect(shippedTo.get()).toBe(31)
  }
  await server.ask('POST', `/${prefix}audit/_refresh`)
  expect(await server.ask('GET', `/${prefix}audit/_count`)).toMatchObject({ count: 31 })
})

where('copies of the chain go to no index that answers before it writes to disk', async () => {
  const { audit, shipping, shippedTo } = opened
  await audit.append([anEvent()])
  await server.ask('PUT', `/${prefix}audit-1`, {
    aliases: { [`${prefix}audit`]: { is_write_index: true } },
    settings: { 'index.translog.durability': 'async', number_of_replicas: 0 },
  })
  await expect(shipping.ship(still)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('translog.durability'),
  })
  expect(shippedTo.get()).toBe(0)
  await server.ask('PUT', `/${prefix}audit/_settings`, { 'index.translog.durability': 'request' })
  expect(await shipping.ship(still)).toEqual({ count: 1 })
})

where('of the writes that wait for a silent cluster only so many are kept; the rest is told at once', async () => {
  const { store } = opened
  await store.create(notes, 'n1', aNote())
  await store.create(notes, 'n2', aNote())
  proxy.cut('silence', /_mget|_bulk/)
  const add = (id: string) =>
    store.update(notes, id, ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: 0 }))
  const waiting = Array.from({ length: 40 }, () => add('n1'))
  const ended = Promise.allSettled(waiting)
  const full = { code: 'unavailable', retry_after_s: 5 }
  // Before any of those that wait has come to an end.
  const waited = waiting.map((each) => each.then(String, () => 'waited'))
  expect(await Promise.race([...waited, add('n1').catch(() => 'refused')])).toBe('refused')
  await expect(add('n1')).rejects.toMatchObject({ ...full, message: expect.stringContaining('for this document') })
  const behind = Array.from({ length: 20 }, () => add('n2'))
  for (const id of ['n2', 'n3']) {
    await expect(add(id)).rejects.toMatchObject({ ...full, message: expect.stringContaining('too many writes wait)') })
  }
  proxy.mend()
  await Promise.all([ended, Promise.allSettled(behind)])
  expect(await add('n1')).toMatchObject({ doc: { version: expect.any(Number) } })
})

where('so many documents may be in doubt, and what comes beyond is told at once', async () => {
  const { store, owed } = opened
  await store.create(notes, 'n1', aNote())
  proxy.cut('silence', /_bulk/)
  const creating = Array.from({ length: 60 }, (_, n) => store.create(notes, `d${n}`, aNote(), [anEvent()]))
  for (const { status } of await Promise.allSettled(creating)) expect(status).toBe('rejected')
  expect(await owed.begun()).toHaveLength(60)
  const beyond = store.create(notes, 'beyond', aNote(), [anEvent()])
  await expect(beyond).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('are in doubt') })
  expect(await owed.begun()).toHaveLength(60)
  proxy.mend()
  expect(await store.settle()).toEqual(new Map())
  expect(await targets()).toHaveLength(60)
  expect(await store.create(notes, 'beyond', aNote())).toMatchObject({ version: 1 })
})

where('an index of before is filled with what its documents are seen by', async () => {
  const { store } = opened
  await store.create(notes, 'a', aNote())
  await store.create(notes, 'b', aNote({ label: aLabel() }))
  await server.ask('POST', `/${prefix}note/_refresh`)
  const script = { source: "ctx._source.remove('marks')" }
  await server.ask('POST', `/${prefix}note/_update_by_query?refresh=true`, { script })
  const { [`${prefix}note-1`]: held } = (await server.ask('GET', `/${prefix}note/_mapping`)) as {
    [index: string]: { mappings: { _meta: { filled: string[] } } }
  }
  const filled = held?.mappings._meta.filled.filter((each) => each !== '(marks)')
  expect(await store.check()).toEqual([expect.stringContaining('marks'), expect.stringContaining('marks')])
  const sight = (level: string) => ({
    viewer: { tenant_id: 'alpha', clearance: { level, categories: [] } },
    policy: { policy: 'site', levels: ['OPEN', 'SECRET'] },
  })
  // Without marks nothing is shown.
  expect(await store.count(notes, {}, { sight: sight('SECRET') })).toBe(0)
  await server.ask('PUT', `/${prefix}note/_mapping`, { _meta: { format: 1, filled } })
  await opened.close()
  opened = open()
  expect(await opened.store.count(notes, {}, { sight: sight('SECRET'), fresh: true })).toBe(2)
  expect(await opened.store.count(notes, {}, { sight: sight('OPEN'), fresh: true })).toBe(1)
  expect(await opened.store.check()).toEqual([])
})

// Shows on a real server that one trouble stays one: a collection that is gone, a document that is too large, a silent cluster.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { buildEvent, buildLabel, buildNote, notes } from '../../conformance/store-requirement.ts'
import { type FaultProxy, startFaultProxy } from '../../support/engines/fault-proxy.ts'
import { type OpenSearch, opensearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
const neverAborted = new AbortController().signal
/** Beside the usual notes. */
const otherNotes = { ...notes, name: 'other' }
const max_bytes = 2_000_000

let server: OpenSearch
let proxy: FaultProxy
let folder: string
let prefix: string
let clusterStore: ReturnType<typeof openClusterStore>

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = await opensearch(undefined, [`http.max_content_length: ${max_bytes}b`])
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(async () => {
  if (!opensearchRequirement.isPresent) return
  folder = mkdtempSync(path.join(tmpdir(), 'flow-'))
  proxy = await startFaultProxy(server.url)
  prefix = `flow${randomUUID()}-`
  clusterStore = openCluster()
  onTestFinished(async () => {
    await clusterStore.close()
    await proxy.end()
    rmSync(folder, { recursive: true, force: true })
  })
})

function openCluster() {
  const rooms = { each: { writes: 40, bytes: 20_000_000 }, all: { writes: 60, bytes: 40_000_000 } }
  return openClusterStore(proxy.url, folder, prefix, 5_000, rooms)
}

const listTargets = async () =>
  (await clusterStore.audit.list({ limit: 99, ascending: true })).map(({ event }) => event?.target)

where('a collection that is gone holds up neither the others nor the copies of the chain', async () => {
  const { store, pendingAudit: pending, shipping } = clusterStore
  for (const each of [notes, otherNotes]) await store.create(each, 'n1', buildNote())
  proxy.inject('silence', /_bulk/)
  const puts = [notes, otherNotes].map((each) =>
    store.put(each, 'n1', buildNote(), 1, [buildEvent({ target: each.name })]),
  )
  const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) }
  expect(await Promise.allSettled(puts)).toEqual([refused, refused])
  proxy.clearFault()
  await server.request('DELETE', `/${prefix}note-1`)
  expect(await store.resolveWrites()).toEqual(new Map([['note', 'index_not_found_exception']]))
  expect(await listTargets()).toEqual(['other'])
  expect(await pending.pending()).toHaveLength(1)
  expect(await store.get(otherNotes, 'n1')).toMatchObject({ version: 2 })
  expect(await shipping.ship(neverAborted)).toEqual({ count: 1 })
  const { ok, detail } = await store.health()
  expect([ok, detail]).toEqual([false, expect.stringMatching(/lost: .*-note: .*; 1 writes without a known outcome/)])
  // A removal by a filter must know of the doubt in its own collection alone.
  expect(await store.removeWhere(otherNotes, { count: 99 })).toBe(0)
  await expect(store.removeWhere(notes, {})).rejects.toMatchObject({ code: 'unavailable' })
})

where('documents that are too large together go all the same, and one that is too large alone is refused', async () => {
  const { store, pendingAudit: pending } = clusterStore
  const large = (n: number) => buildNote({ title: `${n}${'x'.repeat(max_bytes / 5)}` })
  const creating = Array.from({ length: 12 }, (_, n) => store.create(notes, `n${n}`, large(n)))
  const tooLarge = store.create(notes, 'much', buildNote({ title: 'y'.repeat(max_bytes) }), [buildEvent()])
  await expect(tooLarge).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('document') })
  for (const made of await Promise.all(creating)) expect(made).toMatchObject({ version: 1 })
  expect(await store.count(notes, {}, { fresh: true })).toBe(12)
  expect(await pending.pending()).toEqual([])
  expect(await listTargets()).toEqual([])
  await store.load(
    otherNotes,
    creating.map((_, n) => ({ id: `n${n}`, version: 3, value: large(n) })),
  )
  expect(await store.get(otherNotes, 'n11')).toMatchObject({ version: 3 })
})

where('audit records that are too large together are shipped all the same', async () => {
  const { audit, shipping, shippedTo } = clusterStore
  const events = Array.from({ length: 30 }, () => buildEvent({ detail: { text: 'z'.repeat(max_bytes / 9) } }))
  await audit.append(events)
  expect(await shipping.ship(neverAborted)).toEqual({ count: 30 })
  expect(shippedTo.get()).toBe(30)
  await audit.append([buildEvent(), buildEvent({ detail: { text: 'z'.repeat(max_bytes) } })])
  for (let n = 0; n < 2; n++) {
    await expect(shipping.ship(neverAborted)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/ 32 /),
    })
    expect(shippedTo.get()).toBe(31)
  }
  await server.request('POST', `/${prefix}audit/_refresh`)
  expect(await server.request('GET', `/${prefix}audit/_count`)).toMatchObject({ count: 31 })
})

where('copies of the chain go to no index that answers before it writes to disk', async () => {
  const { audit, shipping, shippedTo } = clusterStore
  await audit.append([buildEvent()])
  await server.request('PUT', `/${prefix}audit-1`, {
    aliases: { [`${prefix}audit`]: { is_write_index: true } },
    settings: { 'index.translog.durability': 'async', number_of_replicas: 0 },
  })
  await expect(shipping.ship(neverAborted)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('translog.durability'),
  })
  expect(shippedTo.get()).toBe(0)
  await server.request('PUT', `/${prefix}audit/_settings`, { 'index.translog.durability': 'request' })
  expect(await shipping.ship(neverAborted)).toEqual({ count: 1 })
})

where('keeps only so many writes that wait for a silent cluster; refuses the rest at once', async () => {
  const { store } = clusterStore
  await store.create(notes, 'n1', buildNote())
  await store.create(notes, 'n2', buildNote())
  proxy.inject('silence', /_mget|_bulk/)
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
  proxy.clearFault()
  await Promise.all([ended, Promise.allSettled(behind)])
  expect(await add('n1')).toMatchObject({ doc: { version: expect.any(Number) } })
})

where('only so many documents may be in doubt; refuses more at once', async () => {
  const { store, pendingAudit: pending } = clusterStore
  await store.create(notes, 'n1', buildNote())
  proxy.inject('silence', /_bulk/)
  const creating = Array.from({ length: 60 }, (_, n) => store.create(notes, `d${n}`, buildNote(), [buildEvent()]))
  for (const { status } of await Promise.allSettled(creating)) expect(status).toBe('rejected')
  expect(await pending.pending()).toHaveLength(60)
  const beyond = store.create(notes, 'beyond', buildNote(), [buildEvent()])
  await expect(beyond).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('are in doubt') })
  expect(await pending.pending()).toHaveLength(60)
  proxy.clearFault()
  expect(await store.resolveWrites()).toEqual(new Map())
  expect(await listTargets()).toHaveLength(60)
  expect(await store.create(notes, 'beyond', buildNote())).toMatchObject({ version: 1 })
})

where('an index of before is filled with what its documents are seen by', async () => {
  const { store } = clusterStore
  await store.create(notes, 'a', buildNote())
  await store.create(notes, 'b', buildNote({ label: buildLabel() }))
  await server.request('POST', `/${prefix}note/_refresh`)
  const script = { source: "ctx._source.remove('marks')" }
  await server.request('POST', `/${prefix}note/_update_by_query?refresh=true`, { script })
  const { [`${prefix}note-1`]: held } = (await server.request('GET', `/${prefix}note/_mapping`)) as {
    [index: string]: { mappings: { _meta: { filled: string[] } } }
  }
  const filled = held?.mappings._meta.filled.filter((each) => each !== '(marks)')
  expect(await store.check()).toEqual([expect.stringContaining('marks'), expect.stringContaining('marks')])
  const scopeAt = (level: string) => ({
    viewer: { tenant_id: 'alpha', clearance: { level, categories: [] } },
    policy: { policy: 'site', levels: ['OPEN', 'SECRET'] },
  })
  // Without marks nothing is shown.
  expect(await store.count(notes, {}, { read_scope: scopeAt('SECRET') })).toBe(0)
  await server.request('PUT', `/${prefix}note/_mapping`, { _meta: { format: 1, filled } })
  await clusterStore.close()
  clusterStore = openCluster()
  expect(await clusterStore.store.count(notes, {}, { read_scope: scopeAt('SECRET'), fresh: true })).toBe(2)
  expect(await clusterStore.store.count(notes, {}, { read_scope: scopeAt('OPEN'), fresh: true })).toBe(1)
  expect(await clusterStore.store.check()).toEqual([])
})

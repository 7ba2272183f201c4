// Stops and kills the real server under load: nothing acknowledged is lost, nothing is done or reported twice.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, vi } from 'vitest'
import { openCluster } from '../../../adapters/store/opensearch/cluster/cluster.ts'
import { buildEnvelope } from '../../../adapters/store/opensearch/document-envelope.ts'
import { type ConditionalWrite, DocumentClient } from '../../../adapters/store/opensearch/writes/document-client.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { buildEvent, buildNote, notes } from '../../conformance/store-requirement.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
let server: OpenSearch
let folder: string
let clusterStore: ReturnType<typeof openClusterStore>

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'outage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  if (opensearchRequirement.isPresent) reopen()
  onTestFinished(() => clusterStore?.close())
})

/** As a daemon that starts again over what it had on its disk. */
function reopen(prefix = 'outage-', timeout_ms = 20_000): void {
  clusterStore = openClusterStore(server.url, folder, prefix, timeout_ms)
}

const docs = ['d0', 'd1', 'd2', 'd3']

/** Adds its own marks to the documents, each once, until its end; counts the acknowledged and the doubtful ones. */
class MarkLoad {
  readonly acknowledged: string[] = []
  readonly refused: unknown[] = []
  readonly failed: unknown[] = []
  #isOver = false
  readonly #writers: Promise<void>[]

  constructor(round: string, prefix = '') {
    this.#writers = Array.from({ length: 12 }, (_, n) =>
      this.#write(`${round}.${n}`, `${prefix}${docs[n % docs.length]}`),
    )
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#writers)
  }

  async #write(name: string, id: string): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const mark = `${name}.${turn}`
      const audit = [buildEvent({ target: id, detail: { mark } })]
      try {
        await clusterStore.store.update(notes, id, ({ value }) => {
          return { next: { ...value, title: `${value.title} ${mark}` }, answer: 0, audit }
        })
        this.acknowledged.push(mark)
      } catch (error) {
        if (isRefusal(error) && error.code === 'unavailable' && error.retry_after_s) this.refused.push(error)
        else this.failed.push(error)
        await vi.waitUntil(async () => this.#isOver || (await clusterStore.store.health()).ok, { timeout: 90_000 })
      }
    }
  }
}

async function waitUntilSettled(): Promise<void> {
  const isSettled = () =>
    clusterStore.store.resolveWrites().then(
      () => true,
      () => false,
    )
  await vi.waitUntil(isSettled, { timeout: 60_000 })
}

async function expectRecordsMatch(acknowledged: readonly string[], prefix = ''): Promise<void> {
  const recorded = (await clusterStore.audit.list({ limit: 100_000, ascending: true })).map(({ event }) => event)
  const found: string[] = []
  for (const id of docs.map((each) => `${prefix}${each}`)) {
    const doc = await clusterStore.store.get(notes, id)
    const marks = (doc?.value.title ?? '').split(' ').slice(1)
    expect(doc?.version).toBe(marks.length + 1)
    // In the order in which the document took them.
    expect(recorded.filter((event) => event?.target === id).map((event) => event?.detail.mark)).toEqual(marks)
    found.push(...marks)
  }
  expect(new Set(found).size).toBe(found.length)
  const held = new Set(found)
  expect(acknowledged.filter((mark) => !held.has(mark))).toEqual([])
  expect(await clusterStore.pendingAudit.pending()).toEqual([])
  expect(await clusterStore.audit.verify()).toBeUndefined()
  expect(await clusterStore.store.check()).toEqual([])
}

where(
  'killed and stopped under load, and the daemon gone before it is back',
  async () => {
    for (const id of docs) await clusterStore.store.create(notes, id, buildNote({ title: 'marks' }))
    const acknowledged: string[] = []
    for (const [round, end] of ['kill', 'stop', 'kill'].entries()) {
      const load = new MarkLoad(`r${round}`)
      await vi.waitUntil(() => load.acknowledged.length > 150, { timeout: 60_000 })
      await server[end as 'kill' | 'stop']()
      await vi.waitUntil(() => load.refused.length > 0, { timeout: 60_000 })
      if (round === 2) {
        // Doubtful writes are known to the disk alone now.
        await Promise.all([load.end(), clusterStore.close()])
        reopen()
        await expect(clusterStore.store.get(notes, 'd0')).rejects.toMatchObject({ code: 'unavailable' })
        expect(await clusterStore.store.health()).toMatchObject({ ok: false })
        await server.start()
      } else {
        await server.start()
        const before = load.acknowledged.length
        await vi.waitUntil(() => load.acknowledged.length > before + 100, { timeout: 90_000 })
        await load.end()
      }
      expect(load.failed).toEqual([])
      acknowledged.push(...load.acknowledged)
      await waitUntilSettled()
      await expectRecordsMatch(acknowledged)
    }
  },
  300_000,
)

/** Until a write was under way: what was only being read when the server froze is refused, and leaves no doubt. */
async function freezeInDoubt(load: MarkLoad): Promise<void> {
  for (;;) {
    const refused = load.refused.length
    server.freeze()
    await vi.waitUntil(() => load.refused.length > refused, { timeout: 60_000 })
    if ((await clusterStore.store.health()).detail.includes('without a known outcome')) return
    server.thaw()
    const before = load.acknowledged.length
    await vi.waitUntil(() => load.acknowledged.length > before + 20, { timeout: 60_000 })
  }
}

where(
  'frozen in the middle of writes, thawed, and killed as soon as it answers again',
  async () => {
    await clusterStore.close()
    // A server that freezes is noticed by this time alone.
    reopen('outage-', 2_000)
    for (const id of docs) await clusterStore.store.create(notes, `frozen-${id}`, buildNote({ title: 'marks' }))
    const load = new MarkLoad('f', 'frozen-')
    await vi.waitUntil(() => load.acknowledged.length > 60, { timeout: 60_000 })
    await freezeInDoubt(load)
    const before = load.acknowledged.length
    server.thaw()
    await vi.waitUntil(() => load.acknowledged.length > before, { timeout: 60_000, interval: 1 })
    await server.kill()
    await vi.waitUntil(() => load.refused.length > 0, { timeout: 60_000 })
    await server.start()
    await load.end()
    expect(load.failed).toEqual([])
    await waitUntilSettled()
    await expectRecordsMatch(load.acknowledged, 'frozen-')
  },
  300_000,
)

/**
 * A server that was killed between taking a write and putting it on disk has not answered. Here its index puts nothing on
 * disk while it takes the first one, as if its answer were lost; all that follows is as ever.
 */
where('a write read back is on disk before it counts: created, replaced, removed, copied', async () => {
  const still = new AbortController().signal
  const connection = openCluster({ url: server.url, verify: true, timeout_ms: 20_000 })
  onTestFinished(() => connection.close())
  const documents = new DocumentClient(connection)
  const onDisk = (when: 'request' | 'async', index: string) => {
    const settings = { 'index.translog.durability': when, 'index.translog.sync_interval': '1h' }
    return server.request('PUT', `/${index}/_settings`, settings)
  }
  // Each in an index of its own: what puts one write there takes along what came before.
  const indexed = async (kind: string) => {
    const alias = `disk-${kind}-note`
    const own = openClusterStore(server.url, mkdtempSync(path.join(folder, 'own-')), `disk-${kind}-`)
    onTestFinished(() => own.close())
    await own.store.create(notes, 'n1', buildNote())
    if (kind === 'created') await own.store.remove(notes, 'n1')
    const held = await documents.get(alias, 'n1')
    const write = randomUUID()
    const doc = { id: 'n1', version: 2, value: buildNote({ title: kind }) }
    const sending: ConditionalWrite = {
      write,
      alias,
      id: 'n1',
      ...(held ? { replaces: held.token } : {}),
      ...(kind === 'removed' ? {} : { source: buildEnvelope(doc, write, new Map()) }),
    }
    await onDisk('async', alias)
    expect(await documents.completeWrite(sending)).toBe('done')
    await onDisk('request', alias)
    if (kind !== 'forgotten') expect(await documents.completeWrite(sending, true)).toBe('done')
    return own.store
  }
  await clusterStore.close()
  reopen('disk-')
  const stores = []
  for (const kind of ['created', 'replaced', 'removed', 'forgotten']) stores.push(await indexed(kind))
  const { audit, shipping, shippedTo } = clusterStore
  await audit.append([buildEvent()])
  await shipping.ship(still)
  await onDisk('async', 'disk-audit')
  await audit.append([buildEvent({ target: 'second' })])
  await shipping.ship(still)
  await onDisk('request', 'disk-audit')
  await shippedTo.set(1)
  expect(await shipping.ship(still)).toEqual({ count: 1 })
  await server.kill()
  await server.start()
  const titles = stores.map(async (store) => (await store.get(notes, 'n1'))?.value.title)
  // A write that no query had confirmed was lost: it was not on disk.
  expect(await Promise.all(titles)).toEqual(['created', 'replaced', undefined, buildNote().title])
  expect(await readCopies('disk-')).toHaveLength(2)
})

where('audit records that arise while the cluster is away follow in order, each once', async () => {
  const { audit, shipping, shippedTo } = clusterStore
  const still = new AbortController().signal
  const events = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => buildEvent({ target: `t${from + n}` }))
  await audit.append(events(1, 250))
  expect(await shipping.ship(still)).toEqual({ count: 250 })
  await server.stop()
  await audit.append(events(251, 300))
  await expect(shipping.ship(still)).rejects.toMatchObject({ code: 'unavailable' })
  await server.start()
  await vi.waitUntil(async () => (await clusterStore.store.health()).ok, { timeout: 60_000 })
  expect(await shipping.ship(still)).toEqual({ count: 300 })
  expect(await shipping.ship(still)).toEqual({ count: 0 })
  const local = await audit.list({ limit: 1_000, ascending: true })
  expect(await readCopies()).toEqual(local)
  // The answer to a shipment was lost: the same records are named alike, and create nothing.
  await shippedTo.set(100)
  expect(await shipping.ship(still)).toEqual({ count: 450 })
  expect(await readCopies()).toEqual(local)
  await audit.expire('2027-01-01T00:00:00Z')
  await shipping.expire(Date.parse('2027-01-01T00:00:00Z'), 'test@here')
  expect(await readCopies()).toEqual(local.map(({ event: _dropped, ...sealed }) => sealed))
})

where('distinguishes a foreign chain from the shipped one, and ships nothing of it', async () => {
  const still = new AbortController().signal
  await clusterStore.audit.append([buildEvent(), buildEvent({ target: 'other' })])
  const { count, differs } = await clusterStore.shipping.ship(still)
  expect({ count, differs }).toEqual({ count: 0, differs: 1 })
  expect(clusterStore.shippedTo.get()).toBe(0)
})

/** The records in the cluster, by number. */
async function readCopies(prefix = 'outage-') {
  await server.request('POST', `/${prefix}audit/_refresh`)
  const found = (await server.request('POST', `/${prefix}audit/_search`, { size: 1_000, sort: [{ seq: 'asc' }] })) as {
    hits: { hits: { _source: { record: unknown } }[] }
  }
  return found.hits.hits.map(({ _source }) => _source.record)
}

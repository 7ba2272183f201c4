// Stops and kills the real server in the middle of load: nothing acknowledged is lost, nothing is done or told twice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, vi } from 'vitest'
import { isRefused } from '../../../daemon/kernel/errors.ts'
import { openClusterStore } from '../../conformance/opensearch-arm.ts'
import { aNote, anEvent, notes } from '../../conformance/store-requirement.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'

const where = whenPresent(opensearchWanted)
let server: OpenSearch
let folder: string
let opened: ReturnType<typeof openClusterStore>

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'outage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  if (opensearchWanted.isPresent) reopen()
  onTestFinished(() => opened?.close())
})

/** As a daemon that starts again over what it had on its disk. */
function reopen(): void {
  opened = openClusterStore(server.url, folder, 'outage-', 2_000)
}

const docs = ['d0', 'd1', 'd2', 'd3']

/** Adds marks of its own to the documents, each once, until it is told to end; what was acknowledged, what is in doubt. */
class Load {
  readonly acknowledged: string[] = []
  readonly refused: unknown[] = []
  readonly failed: unknown[] = []
  #isOver = false
  readonly #writers: Promise<void>[]

  constructor(round: string, writers = 12) {
    this.#writers = Array.from({ length: writers }, (_, n) => this.#write(`${round}.${n}`, docs[n % docs.length] ?? ''))
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#writers)
  }

  async #write(name: string, id: string): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const mark = `${name}.${turn}`
      const audit = [anEvent({ target: id, detail: { mark } })]
      try {
        await opened.store.update(notes, id, ({ value }) => {
          return { next: { ...value, title: `${value.title} ${mark}` }, answer: 0, audit }
        })
        this.acknowledged.push(mark)
      } catch (error) {
        if (isRefused(error) && error.code === 'unavailable' && error.retry_after_s) this.refused.push(error)
        else this.failed.push(error)
        await vi.waitUntil(async () => this.#isOver || (await opened.store.health()).ok, { timeout: 90_000 })
      }
    }
  }
}

async function isTrueToItsRecords(acknowledged: readonly string[]): Promise<void> {
  const told = (await opened.audit.list({ limit: 100_000, ascending: true })).map(({ event }) => event)
  const found: string[] = []
  for (const id of docs) {
    const doc = await opened.store.get(notes, id)
    const marks = (doc?.value.title ?? '').split(' ').slice(1)
    expect(doc?.version).toBe(marks.length + 1)
    // In the order in which the document took them.
    expect(told.filter((event) => event?.target === id).map((event) => event?.detail.mark)).toEqual(marks)
    found.push(...marks)
  }
  expect(new Set(found).size).toBe(found.length)
  const held = new Set(found)
  expect(acknowledged.filter((mark) => !held.has(mark))).toEqual([])
  expect(await opened.owed.begun()).toEqual([])
  expect(await opened.audit.verify()).toBeUndefined()
  expect(await opened.store.check()).toEqual([])
}

where(
  'killed and stopped under load, and the daemon gone before it is back',
  async () => {
    for (const id of docs) await opened.store.create(notes, id, aNote({ title: 'marks' }))
    const acknowledged: string[] = []
    for (const [round, end] of ['kill', 'stop', 'kill'].entries()) {
      const load = new Load(`r${round}`)
      await vi.waitUntil(() => load.acknowledged.length > 150, { timeout: 60_000 })
      await server[end as 'kill' | 'stop']()
      await vi.waitUntil(() => load.refused.length > 0, { timeout: 60_000 })
      if (round === 2) {
        // What is in doubt now is known to the disk alone.
        await Promise.all([load.end(), opened.close()])
        reopen()
        await expect(opened.store.get(notes, 'd0')).rejects.toMatchObject({ code: 'unavailable' })
        expect(await opened.store.health()).toMatchObject({ ok: false })
        await server.start()
      } else {
        await server.start()
        const before = load.acknowledged.length
        await vi.waitUntil(() => load.acknowledged.length > before + 100, { timeout: 90_000 })
        await load.end()
      }
      expect(load.failed).toEqual([])
      acknowledged.push(...load.acknowledged)
      await vi.waitUntil(
        () =>
          opened.store.settle().then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      await isTrueToItsRecords(acknowledged)
    }
  },
  300_000,
)

where('audit records that arise while the cluster is away follow in order, each once', async () => {
  const { audit, shipping, shippedTo } = opened
  const still = new AbortController().signal
  const events = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => anEvent({ target: `t${from + n}` }))
  await audit.append(events(1, 250))
  expect(await shipping.ship(still)).toEqual({ count: 250 })
  await server.stop()
  await audit.append(events(251, 300))
  await expect(shipping.ship(still)).rejects.toMatchObject({ code: 'unavailable' })
  await server.start()
  await vi.waitUntil(async () => (await opened.store.health()).ok, { timeout: 60_000 })
  expect(await shipping.ship(still)).toEqual({ count: 300 })
  expect(await shipping.ship(still)).toEqual({ count: 0 })
  const local = await audit.list({ limit: 1_000, ascending: true })
  expect(await copies()).toEqual(local)
  // The answer to a shipment was lost: the same records are named alike, and create nothing.
  await shippedTo.set(100)
  expect(await shipping.ship(still)).toEqual({ count: 450 })
  expect(await copies()).toEqual(local)
  await audit.expire('2027-01-01T00:00:00Z')
  await shipping.expire(Date.parse('2027-01-01T00:00:00Z'), 'test@here')
  expect(await copies()).toEqual(local.map(({ event: _dropped, ...sealed }) => sealed))
})

where('a chain that is not the one that was shipped is told apart, and nothing of it is shipped', async () => {
  const still = new AbortController().signal
  await opened.audit.append([anEvent(), anEvent({ target: 'other' })])
  const { count, differs } = await opened.shipping.ship(still)
  expect({ count, differs }).toEqual({ count: 0, differs: 1 })
  expect(opened.shippedTo.get()).toBe(0)
})

/** What lies in the cluster, by number. */
async function copies() {
  await server.ask('POST', '/outage-audit/_refresh')
  const found = (await server.ask('POST', '/outage-audit/_search', { size: 1_000, sort: [{ seq: 'asc' }] })) as {
    hits: { hits: { _source: { record: unknown } }[] }
  }
  return found.hits.hits.map(({ _source }) => _source.record)
}

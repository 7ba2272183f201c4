// Runs the cluster store against each requirement on stores, on a real server; then loses its questions and answers.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { openClusterStore, opensearchVariant } from '../../conformance/opensearch-variant.ts'
import { replayHistories } from '../../conformance/random-operations.ts'
import { buildEvent, buildNote, type Note, notes } from '../../conformance/store-requirement.ts'
import { testStoreRequirements } from '../../conformance/test-store-requirements.ts'
import { type FaultProxy, startFaultProxy } from '../../support/engines/fault-proxy.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

let server: OpenSearch

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})

const variant = opensearchVariant(() => server)
const where = whenPresent(variant)

describe('opensearch', () => {
  testStoreRequirements(variant)
})

where('random operations are answered as a map in memory answers them, and so as SQLite does', async () => {
  await replayHistories(variant.open, { seed: 20260301, runs: 12, length: 40 })
  expect.hasAssertions()
})

describe('a connection that is not to be relied on', () => {
  let proxy: FaultProxy
  let folder: string
  let opened: ReturnType<typeof openClusterStore>
  let prefix: string

  beforeEach(async () => {
    if (!variant.isPresent) return
    folder = mkdtempSync(path.join(tmpdir(), 'lost-'))
    proxy = await startFaultProxy(server.url)
    prefix = `lost${randomUUID()}-`
    opened = openClusterStore(proxy.url, folder, prefix, 1_000)
    await opened.store.create(notes, 'n1', buildNote())
  })
  afterEach(async () => {
    if (!variant.isPresent) return
    await opened.close()
    await proxy.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const targets = async () => (await opened.audit.list({ limit: 9, ascending: true })).map(({ event }) => event?.target)
  const add = (value: Note) => ({ ...value, count: value.count + 1 })

  for (const cut of ['question', 'answer'] as const) {
    where(`a write whose ${cut} is lost is done once, and reported once`, async () => {
      const { store } = opened
      proxy.inject(cut, /"create"/)
      const event = (target: string) => [buildEvent({ target })]
      expect(await store.create(notes, 'n2', buildNote(), event('create'))).toMatchObject({ version: 1 })
      proxy.inject(cut, /"if_seq_no"/)
      expect(await store.put(notes, 'n2', buildNote({ count: 1 }), 1, event('put'))).toMatchObject({ version: 2 })
      proxy.inject(cut, /"if_seq_no"/)
      const updated = store.update(notes, 'n2', ({ value }) => ({
        next: add(value),
        answer: 0,
        audit: event('update'),
      }))
      expect(await updated).toMatchObject({ doc: { version: 3, value: { count: 2 } } })
      proxy.inject(cut, /_mget/)
      expect(await store.get(notes, 'n2')).toMatchObject({ version: 3, value: { count: 2 } })
      proxy.inject(cut, /"if_seq_no"/)
      expect(await store.remove(notes, 'n2', 3, event('remove'))).toBe('done')
      expect(proxy.faultCount).toBe(5)
      expect(await targets()).toEqual(['create', 'put', 'update', 'remove'])
      expect(await opened.pendingAudit.pending()).toEqual([])
    })
  }

  where('never mistakes a write of another process for its own', async () => {
    const { store } = opened
    proxy.inject('answer', /"create"/)
    expect(await store.create(notes, 'n1', buildNote({ title: 'second' }), [buildEvent()])).toBe('exists')
    proxy.inject('question', /"if_seq_no"/)
    expect(await store.put(notes, 'n1', buildNote(), 7, [buildEvent()])).toBe('conflict')
    expect(await targets()).toEqual([])
    expect(await opened.pendingAudit.pending()).toEqual([])
  })

  where('gives up a silent cluster in time, and settles the outcome before anything else', async () => {
    const { store } = opened
    proxy.inject('silence', /_bulk/)
    const put = store.put(notes, 'n1', buildNote({ count: 5 }), 1, [buildEvent({ target: 'silent' })])
    await expect(put).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 5 })
    expect(await opened.pendingAudit.pending()).toHaveLength(1)
    expect(await store.health()).toMatchObject({ detail: expect.stringContaining('1 writes without a known outcome') })
    expect(await targets()).toEqual([])
    proxy.clearFault()
    expect(await store.put(notes, 'n1', buildNote(), 1)).toBe('conflict')
    expect(await store.get(notes, 'n1')).toMatchObject({ version: 2, value: { count: 5 } })
    expect(await targets()).toEqual(['silent'])
  })

  where('a cluster that lets no write through is unavailable, and no write stays pending', async () => {
    const { store } = opened
    const index = `${prefix}note`
    await server.request('PUT', `/${index}/_settings`, { 'index.blocks.read_only_allow_delete': true })
    const put = store.put(notes, 'n1', buildNote(), 1, [buildEvent()])
    await expect(put).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('cluster_block') })
    expect(await opened.pendingAudit.pending()).toEqual([])
    expect(await store.get(notes, 'n1')).toMatchObject({ version: 1 })
    await server.request('PUT', `/${index}/_settings`, { 'index.blocks.read_only_allow_delete': null })
    expect(await store.put(notes, 'n1', buildNote(), 1)).toMatchObject({ version: 2 })
  })
})

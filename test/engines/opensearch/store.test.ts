// Runs the cluster store against each requirement on stores, on a real server; then loses its questions and answers.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { eachRequirement } from '../../conformance/each-requirement.ts'
import { openClusterStore, opensearchArm } from '../../conformance/opensearch-arm.ts'
import { replayHistories } from '../../conformance/random-operations.ts'
import { aNote, anEvent, type Note, notes } from '../../conformance/store-requirement.ts'
import { type CuttingProxy, cuttingProxy } from '../../support/engines/cutting-proxy.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'

let server: OpenSearch

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})

const arm = opensearchArm(() => server)
const where = whenPresent(arm)

describe('opensearch', () => {
  eachRequirement(arm)
})

where('random operations are answered as a map in memory answers them, and so as SQLite does', async () => {
  await replayHistories(arm.open, { seed: 20260301, runs: 12, length: 40 })
  expect.hasAssertions()
})

describe('a connection that is not to be relied on', () => {
  let proxy: CuttingProxy
  let folder: string
  let opened: ReturnType<typeof openClusterStore>
  let prefix: string

  beforeEach(async () => {
    if (!arm.isPresent) return
    folder = mkdtempSync(path.join(tmpdir(), 'lost-'))
    proxy = await cuttingProxy(server.url)
    prefix = `lost${randomUUID()}-`
    opened = openClusterStore(proxy.url, folder, prefix, 1_000)
    await opened.store.create(notes, 'n1', aNote())
  })
  afterEach(async () => {
    if (!arm.isPresent) return
    await opened.close()
    await proxy.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const targets = async () => (await opened.audit.list({ limit: 9, ascending: true })).map(({ event }) => event?.target)
  const add = (value: Note) => ({ ...value, count: value.count + 1 })

  for (const cut of ['question', 'answer'] as const) {
    where(`a write whose ${cut} is lost is done once, and told once`, async () => {
      const { store } = opened
      proxy.cut(cut, /"create"/)
      const event = (target: string) => [anEvent({ target })]
      expect(await store.create(notes, 'n2', aNote(), event('create'))).toMatchObject({ version: 1 })
      proxy.cut(cut, /"if_seq_no"/)
      expect(await store.put(notes, 'n2', aNote({ count: 1 }), 1, event('put'))).toMatchObject({ version: 2 })
      proxy.cut(cut, /"if_seq_no"/)
      const updated = store.update(notes, 'n2', ({ value }) => ({
        next: add(value),
        answer: 0,
        audit: event('update'),
      }))
      expect(await updated).toMatchObject({ doc: { version: 3, value: { count: 2 } } })
      proxy.cut(cut, /_mget/)
      expect(await store.get(notes, 'n2')).toMatchObject({ version: 3, value: { count: 2 } })
      proxy.cut(cut, /"if_seq_no"/)
      expect(await store.remove(notes, 'n2', 3, event('remove'))).toBe('done')
      expect(proxy.cuts).toBe(5)
      expect(await targets()).toEqual(['create', 'put', 'update', 'remove'])
      expect(await opened.owed.begun()).toEqual([])
    })
  }

  where('what another has written meanwhile is not taken for ours', async () => {
    const { store } = opened
    proxy.cut('answer', /"create"/)
    expect(await store.create(notes, 'n1', aNote({ title: 'second' }), [anEvent()])).toBe('exists')
    proxy.cut('question', /"if_seq_no"/)
    expect(await store.put(notes, 'n1', aNote(), 7, [anEvent()])).toBe('conflict')
    expect(await targets()).toEqual([])
    expect(await opened.owed.begun()).toEqual([])
  })

  where('a cluster that is silent is given up in time, and its outcome settled before anything else', async () => {
    const { store } = opened
    proxy.cut('silence', /_bulk/)
    const put = store.put(notes, 'n1', aNote({ count: 5 }), 1, [anEvent({ target: 'silent' })])
    await expect(put).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 5 })
    expect(await opened.owed.begun()).toHaveLength(1)
    expect(await store.health()).toMatchObject({ detail: expect.stringContaining('1 writes to be settled') })
    expect(await targets()).toEqual([])
    proxy.mend()
    expect(await store.put(notes, 'n1', aNote(), 1)).toBe('conflict')
    expect(await store.get(notes, 'n1')).toMatchObject({ version: 2, value: { count: 5 } })
    expect(await targets()).toEqual(['silent'])
  })

  where('a cluster that lets no write through is unavailable, and nothing is owed', async () => {
    const { store } = opened
    const index = `${prefix}note`
    await server.ask('PUT', `/${index}/_settings`, { 'index.blocks.read_only_allow_delete': true })
    const put = store.put(notes, 'n1', aNote(), 1, [anEvent()])
    await expect(put).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('cluster_block') })
    expect(await opened.owed.begun()).toEqual([])
    expect(await store.get(notes, 'n1')).toMatchObject({ version: 1 })
    await server.ask('PUT', `/${index}/_settings`, { 'index.blocks.read_only_allow_delete': null })
    expect(await store.put(notes, 'n1', aNote(), 1)).toMatchObject({ version: 2 })
  })
})

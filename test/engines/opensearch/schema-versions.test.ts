// In a cluster documents of an earlier release are migrated at the first use of their index, also after an interruption,
// and an earlier release refuses the index of a later one.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Collection } from '../../../daemon/kernel/store/store.ts'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { entryOf, firstEntries, secondEntries } from '../../support/store/versioned-entries.ts'

const where = whenPresent({ ...opensearchRequirement, name: 'opensearch' })
const count = 250

let server: OpenSearch
let folder: string
let prefix: string
beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'versions-'))
  prefix = `versions${randomUUID()}-`
})
afterEach(async () => {
  await server?.request('DELETE', `/${prefix}*`)
  rmSync(folder, { recursive: true, force: true })
})

/** The store of one release, closed afterwards. */
async function withRelease<T>(
  entries: Collection<never>,
  use: (store: ReturnType<typeof open>['store']) => Promise<T>,
) {
  const opened = open(entries)
  try {
    return await use(opened.store)
  } finally {
    await opened.close()
  }
}
const open = (entries: Collection<never>) => openClusterStore(server.url, folder, prefix, 20_000, undefined, [entries])

const [first, second] = [firstEntries, secondEntries] as unknown as [Collection<never>, Collection<never>]

where('documents are migrated once, and the earlier release refuses them then', async () => {
  const docs = Array.from({ length: count }, (_, at) => ({ id: `e${at}`, version: 3, value: entryOf(at) }))
  await withRelease(first, (store) => store.load(firstEntries, docs))
  await withRelease(second, async (store) => {
    expect(await store.count(secondEntries, { name: { exists: true } }, { fresh: true })).toBe(count)
    const found = await store.get(secondEntries, 'e249')
    expect(found).toEqual({ id: 'e249', version: 3, value: { tenant_id: 'alpha', rank: 249, name: 'entry 249' } })
    expect(await store.check()).toEqual([])
  })
  await withRelease(first, async (store) => {
    await expect(store.get(firstEntries, 'e1')).rejects.toThrow(/release \S+ wrote entry in version 2, and .* knows 1/)
  })
})

where('a migration that was interrupted after some documents is completed', async () => {
  await withRelease(first, (store) => store.load(firstEntries, [{ id: 'e0', version: 1, value: entryOf(0) }]))
  const alias = `${prefix}entry`
  await withRelease(second, async (store) => {
    await store.create(secondEntries, 'e1', { tenant_id: 'alpha', rank: 1, name: 'migrated' })
  })
  const meta = { _meta: { format: 1, filled: ['(marks)', 'name', 'rank'], version: 1, release: '1.0.0' } }
  await server.request('PUT', `/${alias}/_mapping`, meta)
  await withRelease(second, async (store) => {
    const { docs } = await store.list(secondEntries, { limit: 9, fresh: true })
    expect(docs.map(({ value }) => value.name)).toEqual(['entry 0', 'migrated'])
  })
  await withRelease(first, async (store) => {
    await expect(store.get(firstEntries, 'e1')).rejects.toThrow('version 2')
  })
})

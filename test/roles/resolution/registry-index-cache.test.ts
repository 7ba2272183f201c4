// The index of a registry: loaded by callers and the worker in turns, with the records of one viewer alone, and then kept up to date.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ResidentThread } from '../../../adapters/compute/threads/resident-thread.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { Clearance } from '../../../daemon/kernel/label/label.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../daemon/kernel/store/scoped-store.ts'
import type { Collection, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { writeNumbered } from '../../../daemon/roles/resolution/entity-record/write-numbered.ts'
import { lens as lensSchema } from '../../../daemon/roles/resolution/lens/model.ts'
import { RegistryIndexCache } from '../../../daemon/roles/resolution/lookup/registry-index-cache.ts'
import type { TrainedLens } from '../../../daemon/roles/resolution/lookup/trained-lens.ts'
import { requestJob } from '../../../daemon/roles/resolution/matching-thread/request-job.ts'
import { upsertDocuments } from '../../../daemon/roles/resolution/upsert-documents.ts'
import { openSqliteStore } from '../../conformance/store-variants.ts'
import { labelPolicy } from '../../support/consensus/session-records.ts'
import { buildPersonLens } from './resolution-site.ts'
import { registryLabel, seeded_at } from './seed-registry.ts'

const lens = lensSchema.parse(buildPersonLens())
const registry = { tenant_id: 'tenant-a', lens: 'people' }
const script = { module: new URL('../../../daemon/runtime/resolution/matching-thread.ts', import.meta.url) }
const limits = { max_memory_bytes: 256 * 1_048_576, max_active: 4, max_waiting: 8, max_waiting_per_owner: 4 }
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A registry with records of which every second one is secret. */
async function openRegistry(records: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'index-'))
  const { file, store } = openSqliteStore(folder)
  const thread = new ResidentThread(() => script, limits)
  ends.push(
    () => thread.close(),
    () => file.close(),
    async () => rmSync(folder, { recursive: true }),
  )
  const clock = { ms: 0, page_ms: 0 }
  const woken: string[] = []
  const reads: string[] = []
  const callOf = (caller: Pick<Caller, 'tenant_id' | 'clearance'>) => {
    const scope = { caller: { subject: 'ann', ...caller } as Caller, labels: labelPolicy, if_match: undefined }
    const open = <T extends StoredFields>(collection: Collection<T>) => {
      const scoped = scopedStore(store, collection, { ...scope, onRefusal: () => undefined })
      const find = async (id: string) => {
        reads.push(`find ${collection.name}`)
        return await scoped.find(id)
      }
      const list: typeof scoped.list = async (query) => {
        clock.ms += clock.page_ms
        const page = await scoped.list(query)
        reads.push(`list ${page.docs.length}`)
        return page
      }
      return { ...scoped, find, list, count: () => Promise.reject(new Error('a lookup must not count')) }
    }
    return {
      ...{ caller: scope.caller, part: () => thread, store: open, site: { labels: labelPolicy } },
      ...{
        settings: () => ({ lookup_memory_mb: 64, lookup_records: 10_000 }),
        wake: (name: string) => woken.push(name),
      },
      ...{ monotonic: () => clock.ms, now: () => 0, signal: new AbortController().signal },
    } as unknown as Call
  }
  const service = callOf({ tenant_id: '*', clearance: undefined })
  const write = (from: number, to: number, surname: string) =>
    writeNumbered(service, registry, async (written) => {
      const docs = Array.from({ length: to - from }, (_, offset) => {
        const at = from + offset
        const ref = { node_id: 'north', record_id: `p${at}` }
        const id = recordUid('tenant-a', 'people', ref)
        const label = { ...registryLabel, level: at % 2 ? 'SECRET' : 'UNCLASSIFIED' }
        const fields = { lens: 'people', ref, values: { surname }, base: id, run_id: 'run_1', updated_at: seeded_at }
        return { id, value: { tenant_id: 'tenant-a', label, ...fields, written } }
      })
      await upsertDocuments(service.store(entityRecords), docs, (_before, next) => next)
    })
  await write(0, records, 'before')
  reads.length = 0
  const viewerOf = (level: string) =>
    callOf({ tenant_id: 'tenant-a', clearance: { level, categories: [] } satisfies Clearance })
  const countHeld = async (index: string) => {
    const input = { index, lens, records: [], isNew: false, evicted: [] }
    return (await requestJob(service, 'put_records', input)).size
  }
  return { cache: new RegistryIndexCache(), clock, woken, reads, service, viewerOf, write, countHeld }
}

const trained = { lens: { id: 'lens_1', value: { body: lens } }, run: { value: registry } } as unknown as TrainedLens

test('a caller that does not wait is told to retry, and the worker completes the index without hidden records', async () => {
  const { cache, clock, woken, service, viewerOf, countHeld } = await openRegistry(1_000)
  clock.page_ms = 2_000
  const ann = viewerOf('UNCLASSIFIED')
  const refused = await cache.openIndex(ann, trained)
  expect(isRefusal(refused) && refused).toMatchObject({ code: 'unavailable', retry_after_s: 5 })
  expect(isRefusal(refused) && refused.message).toContain('400 so far')
  expect(woken).toEqual(['registry-index'])
  await cache.continueLoading(service)
  const index = await cache.openIndex(ann, trained)
  expect(await countHeld(String(index))).toBe(500)
})

test('a lookup without changes reads one document, and after changes only what was written since', async () => {
  const { cache, reads, viewerOf, write, countHeld } = await openRegistry(600)
  const ann = viewerOf('SECRET')
  const index = await cache.openIndex(ann, trained)
  expect(await countHeld(String(index))).toBe(600)
  reads.length = 0
  expect(await cache.openIndex(ann, trained)).toBe(index)
  expect(reads).toEqual(['find registry_head'])
  await write(590, 603, 'after')
  reads.length = 0
  expect(await cache.openIndex(ann, trained)).toBe(index)
  expect(reads).toEqual(['find registry_head', 'list 13'])
  expect(await countHeld(String(index))).toBe(603)
})

test('a new run of the same version keeps the index', async () => {
  const { cache, viewerOf } = await openRegistry(10)
  const ann = viewerOf('SECRET')
  const index = await cache.openIndex(ann, trained)
  const later = { ...trained, run: { ...trained.run, id: 'run_2' } }
  expect(await cache.openIndex(ann, later)).toBe(index)
})

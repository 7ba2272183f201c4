// The indexes in the matching thread: those that fit stay, and those that do not are removed, whatever becomes of their callers.
import { afterEach, expect, test } from 'vitest'
import { ResidentThread } from '../../../adapters/compute/threads/resident-thread.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { lens as lensSchema } from '../../../daemon/roles/resolution/lens/model.ts'
import { type ThreadIndex, ThreadIndexes } from '../../../daemon/roles/resolution/lookup/thread-indexes.ts'
import { requestJob } from '../../../daemon/roles/resolution/matching-thread/request-job.ts'
import { buildPersonLens } from './resolution-site.ts'

const lens = lensSchema.parse(buildPersonLens())
const script = { module: new URL('../../../daemon/runtime/resolution/matching-thread.ts', import.meta.url) }
const limits = { max_memory_bytes: 256 * 1_048_576, max_active: 4, max_waiting: 8, max_waiting_per_owner: 4 }
const opened: ResidentThread[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((thread) => thread.close()))
})

type KeptIndex = { readonly index: ThreadIndex; pages: number }

function openIndexes() {
  const thread = new ResidentThread(() => script, limits)
  opened.push(thread)
  const clock = { ms: 0 }
  const allowed = { lookup_memory_mb: 64, lookup_records: 1_000 }
  const callWith = (signal: AbortSignal) => {
    const caller = { tenant_id: 'a', subject: 'ann' }
    return { part: () => thread, caller, signal, monotonic: () => clock.ms, settings: () => allowed } as unknown as Call
  }
  const call = callWith(new AbortController().signal)
  const indexes = new ThreadIndexes<KeptIndex>()
  /** Loads so many pages of 40 records, each of which takes this time. Returns the pages loaded, and the refusal. */
  const load = async (key: string, { pages = 1, page_ms = 0 } = {}) => {
    const kept = indexes.find(call, key) ?? { index: indexes.create(call, lens), pages: 0 }
    indexes.keep(call, key, kept)
    const refusal = await indexes.load(call, kept, async () => {
      if (kept.pages >= pages) return 'done'
      clock.ms += page_ms
      await kept.index.put(call, buildRecords(40 * ++kept.pages))
      return 'more'
    })
    return { kept, refusal }
  }
  /** Leaves room for so many times the memory of an index. */
  const allow = ({ index }: KeptIndex, times: number) => {
    allowed.lookup_memory_mb = (index.bytes * times) / 1_048_576
  }
  return { indexes, callWith, call, clock, allowed, load, allow }
}

const buildRecords = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    uid: `u${at}`,
    values: { surname: `name ${at}` },
    isCounted: true,
  }))

/** Whether the thread holds the index. */
async function isHeld(call: Call, { id: index }: ThreadIndex): Promise<boolean> {
  const job = requestJob(call, 'put_records', { index, lens, records: [], isNew: false, evicted: [] })
  return await job.then(
    () => true,
    () => false,
  )
}

test('indexes that fit together stay, and one that does not fit replaces the one that was used longest ago', async () => {
  const { indexes, call, load, allow } = openIndexes()
  const first = await load('first')
  allow(first.kept, 2.5)
  await load('second')
  await load('first')
  expect(indexes.find(call, 'second')).toBeDefined()
  await load('first')
  await load('third')
  expect([indexes.find(call, 'first'), indexes.find(call, 'second')]).toEqual([first.kept, undefined])
})

test('an index in use is not replaced while loading it again would take longer than it has been idle', async () => {
  const { indexes, call, clock, load, allow } = openIndexes()
  const first = await load('first', { page_ms: 1_000 })
  allow(first.kept, 1.5)
  const refused = await load('second', { page_ms: 1_000 })
  expect(refused.refusal).toMatchObject({ code: 'unavailable', retry_after_s: 60 })
  expect(refused.refusal?.message).toContain('resolution.lookup_memory_mb')
  const again = await load('second', { page_ms: 1_000 })
  expect([again.refusal, again.kept.pages]).toEqual([refused.refusal, 1])
  expect(indexes.find(call, 'first')).toBe(first.kept)
  clock.ms += 60_000
  expect((await load('second', { page_ms: 1_000 })).refusal).toBeUndefined()
  expect(indexes.find(call, 'first')).toBeUndefined()
})

test('an index that takes long is loaded by all who ask for it, each for its own time, and says how far it is', async () => {
  const { load } = openIndexes()
  const begun = await load('large', { pages: 10, page_ms: 1_000 })
  expect(begun.refusal).toMatchObject({ code: 'unavailable', retry_after_s: 5 })
  expect(begun.refusal?.message).toContain('120 so far')
  expect((await load('large', { pages: 10, page_ms: 1_000 })).refusal?.message).toContain('240 so far')
  const both = await Promise.all([1, 2].map(() => load('large', { pages: 10, page_ms: 1_000 })))
  expect(both.map(({ refusal }) => refusal?.message.match(/\d+ so far/)?.[0])).toEqual(['360 so far', '400 so far'])
  const complete = await load('large', { pages: 10 })
  expect(complete).toMatchObject({ refusal: undefined, kept: { pages: 10, index: { size: 400 } } })
})

test('the worker completes what nobody waits for', async () => {
  const { indexes, call, load } = openIndexes()
  const { kept } = await load('large', { pages: 5, page_ms: 1_000 })
  await indexes.complete(call, kept, async () => {
    if (kept.pages >= 5) return 'done'
    await kept.index.put(call, buildRecords(40 * ++kept.pages))
    return 'more'
  })
  expect((await load('large', { pages: 5 })).refusal).toBeUndefined()
})

test('a registry that does not fit is refused with the remedy, leaves the thread, and is not loaded for each call', async () => {
  const { call, clock, allowed, load, allow } = openIndexes()
  allowed.lookup_records = 100
  const tooMany = await load('large', { pages: 5 })
  expect(tooMany.refusal).toMatchObject({ code: 'wrong_state' })
  expect(tooMany.refusal?.message).toContain('more than 100 records, which resolution.lookup_records allows')
  const again = await load('large', { pages: 5 })
  expect([again.refusal, again.kept.pages]).toEqual([tooMany.refusal, 3])
  const small = await load('small')
  expect([await isHeld(call, again.kept.index), await isHeld(call, small.kept.index)]).toEqual([false, true])
  clock.ms += 60_000
  allowed.lookup_records = 1_000
  allow(small.kept, 0.5)
  expect((await load('large', { pages: 5 })).refusal?.message).toContain('of resolution.lookup_memory_mb')
})

test('an evicted index leaves the thread before the next records, also when the caller that evicted it is gone', async () => {
  const { indexes, call, callWith } = openIndexes()
  const evicted = indexes.create(call, lens)
  await evicted.put(call, buildRecords(40))
  evicted.evict()
  const leaving = new AbortController()
  const next = indexes.create(call, lens)
  leaving.abort(new Error('the caller left'))
  await expect(next.put(callWith(leaving.signal), buildRecords(1))).rejects.toThrow('left')
  expect(await isHeld(call, evicted)).toBe(true)
  await next.put(call, buildRecords(1))
  expect(await isHeld(call, evicted)).toBe(false)
  expect(await isHeld(call, next)).toBe(true)
})

test('an index that is evicted while its first records are on their way leaves as well', async () => {
  const { indexes, call } = openIndexes()
  const evicted = indexes.create(call, lens)
  const next = indexes.create(call, lens)
  const loading = evicted.put(call, buildRecords(40))
  evicted.evict()
  await next.put(call, [])
  await loading
  await next.put(call, [])
  expect(await isHeld(call, evicted)).toBe(false)
})

test('an update whose caller left does not affect the next', async () => {
  const { indexes, call } = openIndexes()
  const index = indexes.create(call, lens)
  const first = index.update(() => Promise.reject(new Error('the caller left')))
  const second = index.update(() => index.put(call, buildRecords(3)))
  await expect(first).rejects.toThrow('left')
  await second
  expect(index.size).toBe(3)
})

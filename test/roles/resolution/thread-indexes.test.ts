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

type KeptIndex = { readonly index: ThreadIndex }

function openIndexes() {
  const thread = new ResidentThread(() => script, limits)
  opened.push(thread)
  const callWith = (signal: AbortSignal) =>
    ({ part: () => thread, caller: { tenant_id: 'a', subject: 'ann' }, signal }) as unknown as Call
  return { indexes: new ThreadIndexes<KeptIndex>(), callWith, call: callWith(new AbortController().signal) }
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

test('two indexes that fit together do not evict each other', async () => {
  const { indexes, call } = openIndexes()
  const [first, second] = [{ index: indexes.create(call, lens) }, { index: indexes.create(call, lens) }]
  const open = async (key: string, kept: KeptIndex) => {
    indexes.keep(key, kept, 100 - 40)
    await kept.index.put(call, buildRecords(40))
  }
  await open('first', first)
  await open('second', second)
  await open('first', first)
  expect(indexes.find(call, 'second')).toBe(second)
  indexes.keep('third', { index: indexes.create(call, lens) }, 100 - 40)
  expect([indexes.find(call, 'first'), indexes.find(call, 'second')]).toEqual([first, undefined])
})

test('an evicted index leaves the thread before the next records, also when the caller that evicted it is gone', async () => {
  const { indexes, call, callWith } = openIndexes()
  const evicted = indexes.create(call, lens)
  indexes.keep('first', { index: evicted }, 100)
  await evicted.put(call, buildRecords(40))
  const leaving = new AbortController()
  const next = indexes.create(call, lens)
  indexes.keep('next', { index: next }, 30)
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
  indexes.keep('first', { index: evicted }, 100)
  const next = indexes.create(call, lens)
  indexes.keep('next', { index: next }, 100)
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

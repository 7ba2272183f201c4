// A resident thread keeps data between jobs, shares its time among owners, and outlives jobs that end at a limit.
import { afterEach, expect, test } from 'vitest'
import type { ResidentJob } from '../../../daemon/kernel/role/compute.ts'
import { type ResidentLimits, ResidentThread } from './resident-thread.ts'

const script = () => ({ module: new URL('../../../test/support/threads/resident-work.mjs', import.meta.url) })
const limits = { max_memory_bytes: 256 * 1_048_576, max_active: 4, max_waiting: 8, max_waiting_per_owner: 4 }
const opened: ResidentThread[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((thread) => thread.close()))
})

function openThread(more: Partial<ResidentLimits> = {}): ResidentThread {
  const thread = new ResidentThread(script, { ...limits, ...more })
  opened.push(thread)
  return thread
}

function buildJob(input: unknown, more: Partial<ResidentJob> = {}): ResidentJob {
  const owner = { tenant_id: 'a', subject: 'ann' }
  const signal = new AbortController().signal
  return { owner, input, max_compute_ms: 60_000, signal, onQuery: async () => undefined, ...more }
}

/** Starts a job that computes until it is aborted; resolves once it computes. */
async function startEndless(thread: ResidentThread, more: Partial<ResidentJob> = {}) {
  const controller = new AbortController()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const onQuery = async () => begin()
  const outcome = thread.run(buildJob('endless', { signal: controller.signal, onQuery, ...more }))
  outcome.catch(() => undefined)
  await begun
  return { outcome, controller }
}

test('jobs keep data in the thread, and make queries', async () => {
  const thread = openThread()
  expect(await thread.run(buildJob('count'))).toBe(1)
  expect(await thread.run(buildJob('count'))).toBe(2)
  const onQuery = async (query: unknown) => (query === 'six times seven' ? 42 : undefined)
  expect(await thread.run(buildJob('query', { onQuery }))).toBe(42)
})

test('a job fails with its error, and with the error of the answer to its query', async () => {
  const thread = openThread()
  await expect(thread.run(buildJob('fail'))).rejects.toThrow('broken data')
  const reason = new Error('no such record')
  await expect(thread.run(buildJob('query', { onQuery: () => Promise.reject(reason) }))).rejects.toBe(reason)
  expect(await thread.run(buildJob('count'))).toBe(3)
})

test('an endless job does not hold others up, ends when its caller leaves, and leaves the thread as it is', async () => {
  const thread = openThread()
  const { outcome, controller } = await startEndless(thread)
  expect(await thread.run(buildJob('count'))).toBe(2)
  const reason = new Error('the caller left')
  controller.abort(reason)
  await expect(outcome).rejects.toBe(reason)
  expect(await thread.run(buildJob('count'))).toBe(3)
  expect(thread.generation).toBe(0)
})

test('a job ends with its computing time', async () => {
  const thread = openThread()
  const { outcome } = await startEndless(thread, { max_compute_ms: 30 })
  await expect(outcome).rejects.toMatchObject({ code: 'too_large' })
  expect(await thread.run(buildJob('count'))).toBe(2)
})

test('a job that waits is refused beyond the limits, with a time to retry, and ends when its caller leaves', async () => {
  const thread = openThread({ max_active: 1, max_waiting: 3, max_waiting_per_owner: 2 })
  const { controller } = await startEndless(thread)
  const leaving = new AbortController()
  const first = thread.run(buildJob('count', { signal: leaving.signal }))
  const second = thread.run(buildJob('count'))
  await expect(thread.run(buildJob('count'))).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 1 })
  const third = thread.run(buildJob('count', { owner: { tenant_id: 'a', subject: 'bob' } }))
  const other = buildJob('count', { owner: { tenant_id: 'b', subject: 'eve' } })
  await expect(thread.run(other)).rejects.toMatchObject({ code: 'unavailable' })
  leaving.abort(new Error('left'))
  await expect(first).rejects.toThrow('left')
  const fourth = thread.run(other)
  controller.abort(new Error('done'))
  expect(await Promise.all([fourth, third, second].map((job) => job))).toEqual([2, 3, 4])
})

test('the jobs of one owner do not delay the first of another', async () => {
  const thread = openThread({ max_active: 1 })
  const { controller } = await startEndless(thread)
  const ended: string[] = []
  const run = async (tenant_id: string, name: string) => {
    await thread.run(buildJob('count', { owner: { tenant_id, subject: 'ann' } }))
    ended.push(name)
  }
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')]
  controller.abort(new Error('done'))
  await Promise.all(all)
  expect(ended).toEqual(['b1', 'a1', 'a2', 'a3'])
})

test('work that never pauses ends for good where it is alone; beside others, nobody knows whose it is', async () => {
  const [alone, shared] = [openThread(), openThread()]
  const { outcome } = await startEndless(shared)
  await Promise.all([
    expect(alone.run(buildJob('stall'))).rejects.toMatchObject({ code: 'too_large' }),
    expect(shared.run(buildJob('stall'))).rejects.toMatchObject({ code: 'unavailable' }),
    expect(outcome).rejects.toMatchObject({ code: 'unavailable' }),
  ])
  expect(await Promise.all([alone.run(buildJob('count')), shared.run(buildJob('count'))])).toEqual([1, 1])
}, 60_000)

test('a thread that ends takes its jobs with it, and the next job starts another', async () => {
  const thread = openThread()
  const { outcome } = await startEndless(thread)
  await expect(thread.run(buildJob('exit'))).rejects.toMatchObject({ code: 'unavailable' })
  await expect(outcome).rejects.toMatchObject({ code: 'unavailable' })
  expect(thread.generation).toBe(1)
  expect(await thread.run(buildJob('count'))).toBe(1)
})

// Work beside the process: its answer comes back, and whatever it does, it ends at its limits and takes nothing with it.
import { expect, test } from 'vitest'
import type { ComputeJob } from '../../../daemon/kernel/role/compute.ts'
import { threads } from './threads.ts'

const requirePort = "const { parentPort, workerData } = require('node:worker_threads');"
const postMessageCode = (kind: string, value: string) => `parentPort.postMessage({ kind: '${kind}', value: ${value} });`

function runSource(source: string, more: Partial<ComputeJob> = {}): Promise<unknown> {
  const job = { input: 7, timeout_ms: 60_000, max_memory_bytes: 512 * 1_048_576, signal: new AbortController().signal }
  return threads(() => ({ source: requirePort + source })).run({ ...job, report: () => undefined, ...more })
}

test('the answer comes back, and what was told on the way', async () => {
  const told: unknown[] = []
  const work =
    postMessageCode('progress', '1') + postMessageCode('progress', '2') + postMessageCode('done', 'workerData * 6')
  expect(await runSource(work, { report: (progress) => told.push(progress) })).toBe(42)
  expect(told).toEqual([1, 2])
})

test('what it throws, the job fails with; so does a thread that ends without an answer', async () => {
  await expect(runSource('throw new Error("broken data")')).rejects.toThrow('broken data')
  await expect(runSource('process.exit(0)')).rejects.toThrow('without an answer')
})

test('it has nothing of the environment', async () => {
  expect(await runSource(postMessageCode('done', 'Object.keys(process.env)'))).toEqual([])
})

test('an endless job ends when it is wanted no more, and at its time', async () => {
  const endless = `${postMessageCode('progress', '1')} for (;;);`
  const controller = new AbortController()
  const reason = new Error('not wanted')
  await expect(runSource(endless, { signal: controller.signal, report: () => controller.abort(reason) })).rejects.toBe(
    reason,
  )
  await expect(runSource(endless, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  await expect(runSource(endless, { timeout_ms: 100 })).rejects.toMatchObject({ code: 'timeout' })
})

test('a job that grows ends at its limit, in the heap and outside', async () => {
  const memory_bytes = 64 * 1_048_576
  const inHeap = 'const all = []; for (;;) all.push({ a: all.length, b: [all.length] });'
  await expect(runSource(inHeap, { max_memory_bytes: memory_bytes })).rejects.toMatchObject({ code: 'too_large' })
  const outside = 'const all = []; for (;;) if (all.length < 200) all.push(new Float64Array(262_144).fill(1));'
  await expect(runSource(outside, { max_memory_bytes: memory_bytes })).rejects.toMatchObject({ code: 'too_large' })
})

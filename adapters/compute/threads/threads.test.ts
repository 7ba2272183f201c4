// Jobs in worker threads: they return their result, and end at their limits without harm to the process.
import { getCompileCacheDir } from 'node:module'
import { expect, test } from 'vitest'
import type { ComputeJob } from '../../../daemon/kernel/role/compute.ts'
import { threads } from './threads.ts'

const requirePort = "const { parentPort, workerData } = require('node:worker_threads');"
const postMessageCode = (kind: string, value: string) => `parentPort.postMessage({ kind: '${kind}', value: ${value} });`

function runSource(source: string, more: Partial<ComputeJob> = {}): Promise<unknown> {
  const job = { input: 7, timeout_ms: 60_000, max_memory_bytes: 512 * 1_048_576, signal: new AbortController().signal }
  return threads(() => ({ source: requirePort + source })).run({ ...job, report: () => undefined, ...more })
}

test('a job returns its result and its progress reports', async () => {
  const reports: unknown[] = []
  const work =
    postMessageCode('progress', '1') + postMessageCode('progress', '2') + postMessageCode('done', 'workerData * 6')
  expect(await runSource(work, { report: (progress) => reports.push(progress) })).toBe(42)
  expect(reports).toEqual([1, 2])
})

test('a job fails with the error of its thread, and when the thread exits without a result', async () => {
  await expect(runSource('throw new Error("broken data")')).rejects.toThrow('broken data')
  await expect(runSource('process.exit(0)')).rejects.toThrow('without an answer')
})

test('a job sees no environment variables, but for the folder of compiled modules that tests have', async () => {
  const names = postMessageCode('done', 'Object.keys(process.env)')
  expect(await runSource(names)).toEqual(getCompileCacheDir() === undefined ? [] : ['NODE_COMPILE_CACHE'])
})

test('an endless job stops when it is aborted and at its timeout', async () => {
  const endless = `${postMessageCode('progress', '1')} for (;;);`
  const controller = new AbortController()
  const reason = new Error('aborted by the test')
  await expect(runSource(endless, { signal: controller.signal, report: () => controller.abort(reason) })).rejects.toBe(
    reason,
  )
  await expect(runSource(endless, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  await expect(runSource(endless, { timeout_ms: 100 })).rejects.toMatchObject({
    ...{ code: 'too_large', message: 'the work takes longer than its limit of 0.1 s' },
    row: { retryable: false },
  })
})

test('a job that exceeds its memory limit stops, for heap and external memory', async () => {
  const memory_bytes = 64 * 1_048_576
  const inHeap = 'const all = []; for (;;) all.push({ a: all.length, b: [all.length] });'
  await expect(runSource(inHeap, { max_memory_bytes: memory_bytes })).rejects.toMatchObject({ code: 'too_large' })
  const outside = 'const all = []; for (;;) if (all.length < 200) all.push(new Float64Array(262_144).fill(1));'
  await expect(runSource(outside, { max_memory_bytes: memory_bytes })).rejects.toMatchObject({ code: 'too_large' })
})

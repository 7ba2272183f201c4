// A long computation lets other work continue, gives the result of one go, and ends with its caller.
import { expect, test } from 'vitest'
import { runInSlices, sliceRunner } from './run-in-slices.ts'
import { runToEnd } from './run-to-end.ts'

/** Each reading of the clock is one step later; `pauses` counts the times that other work could continue. */
function buildLoop(step_ms: number) {
  const stopping = new AbortController()
  let [now_ms, pauses] = [0, 0]
  const loop = {
    monotonic: () => (now_ms += step_ms),
    pause: async () => void pauses++,
    signal: stopping.signal,
  }
  return { loop, stopping, countPauses: () => pauses }
}

function* count(to: number): Generator<undefined, number> {
  for (let at = 0; at < to; at++) yield
  return to
}

test('other work continues after each five milliseconds, and not after each step', async () => {
  const { loop, countPauses } = buildLoop(1)
  expect(await runInSlices(loop, count(60))).toBe(60)
  expect(countPauses()).toBeGreaterThanOrEqual(8)
  expect(countPauses()).toBeLessThanOrEqual(12)
})

test('a short computation does not pause', async () => {
  const { loop, countPauses } = buildLoop(1)
  expect(await runInSlices(loop, count(3))).toBe(3)
  expect(countPauses()).toBe(0)
})

test('a computation whose caller is gone ends with its reason', async () => {
  const { loop, stopping } = buildLoop(10)
  stopping.abort(new Error('the caller is gone'))
  await expect(runInSlices(loop, count(3))).rejects.toThrow('the caller is gone')
})

test('many short computations of one runner pause as one long one does', async () => {
  const { loop, countPauses } = buildLoop(1)
  const run = sliceRunner(loop)
  for (let at = 0; at < 20; at++) expect(await run(count(3))).toBe(3)
  expect(countPauses()).toBeGreaterThanOrEqual(8)
})

test('a computation in one go gives the same result', () => {
  expect(runToEnd(count(60))).toBe(60)
})

// How fast secrets can be guessed, in time that the test moves.
import { expect, test } from 'vitest'
import { failedAttempts } from './attempts.ts'

const burst = 20
const start = 1_000_000

test('a client may fail twenty times, then nobody tries as it until one failure is forgiven', () => {
  const attempts = failedAttempts()
  for (let n = 0; n < burst; n += 1) {
    expect(attempts.wait_s('gateway', start)).toBe(0)
    attempts.failed('gateway', start)
  }
  expect(attempts.wait_s('gateway', start)).toBe(3)
  expect(attempts.wait_s('gateway', start + 2_001)).toBe(1)
  expect(attempts.wait_s('gateway', start + 3_000)).toBe(0)
  attempts.failed('gateway', start + 3_000)
  expect(attempts.wait_s('gateway', start + 3_000)).toBe(3)
  expect(attempts.wait_s('gateway', start + 3_000 + burst * 3_000)).toBe(0)
})

test('others are not kept waiting, and no name is told from another', () => {
  const attempts = failedAttempts()
  for (const name of ['gateway', 'no such client']) {
    for (let n = 0; n < burst; n += 1) attempts.failed(name, start)
    expect(attempts.wait_s(name, start)).toBe(3)
  }
  expect(attempts.wait_s('reader', start)).toBe(0)
})

test('failures under ever new names make those wait who fail, and no client that they do not name', () => {
  const attempts = failedAttempts()
  const waits = Array.from({ length: 201 }, (_, n) => attempts.failed(n % 2 ? `made-up-${n}` : undefined, start))
  expect(waits.filter((wait) => wait > 0)).toEqual([1])
  expect(attempts.wait_s('gateway', start)).toBe(0)
  expect(attempts.failed(undefined, start + 100)).toBe(0)
})

test('a flood is forgiven as soon as the same number of failures would be', () => {
  const attempts = failedAttempts()
  for (let n = 0; n < 100_000; n += 1) attempts.failed('gateway', start)
  expect(attempts.wait_s('gateway', start + 3_000)).toBe(0)
  expect(attempts.failed(undefined, start + 100)).toBe(0)
})

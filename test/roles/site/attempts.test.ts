// The rate at which secrets can be guessed, with a clock that the test moves.
import { expect, test } from 'vitest'
import { memoryKeyValue } from '../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { failedAttempts } from '../../../daemon/roles/site/token/failed-attempts.ts'

const max_attempts = 20

function createAttempts() {
  const clock = { ms: 1_000_000 }
  const shared = memoryKeyValue(() => clock.ms)
  return { clock, ...failedAttempts(shared), elsewhere: failedAttempts(shared) }
}

test('a client may fail twenty times, then nobody tries as it, at any process, until the minute is over', async () => {
  const { clock, wait_s, recordFailure, elsewhere } = createAttempts()
  for (let n = 0; n < max_attempts; n += 1) {
    expect(await wait_s('gateway')).toBe(0)
    await recordFailure('gateway')
  }
  expect(await wait_s('gateway')).toBe(60)
  expect(await elsewhere.wait_s('gateway')).toBe(60)
  clock.ms += 57_001
  expect(await wait_s('gateway')).toBe(3)
  clock.ms += 2_999
  expect(await wait_s('gateway')).toBe(0)
  await recordFailure('gateway')
  expect(await wait_s('gateway')).toBe(0)
})

test('failures at once are all counted', async () => {
  const { wait_s, recordFailure } = createAttempts()
  await Promise.all(Array.from({ length: max_attempts }, () => recordFailure('gateway')))
  expect(await wait_s('gateway')).toBe(60)
})

test('does not delay other callers, and reveals no difference between names', async () => {
  const { wait_s, recordFailure } = createAttempts()
  for (const name of ['gateway', 'no such client']) {
    for (let n = 0; n < max_attempts; n += 1) await recordFailure(name)
    expect(await wait_s(name)).toBe(60)
  }
  expect(await wait_s('reader')).toBe(0)
})

test('failures under ever new names make those wait who fail, and no client that they do not name', async () => {
  const { clock, wait_s, recordFailure } = createAttempts()
  const waits: number[] = []
  for (let n = 0; n < 201; n += 1) waits.push(await recordFailure(n % 2 ? `made-up-${n}` : undefined))
  expect(waits.filter((wait) => wait > 0)).toEqual([20])
  expect(await wait_s('gateway')).toBe(0)
  clock.ms += 20_000
  expect(await recordFailure(undefined)).toBe(0)
})

// A breaker opens after failures in a row, admits one attempt when its time has come, and stays open longer each time.
import { beforeEach, expect, test } from 'vitest'
import { CircuitBreaker } from './circuit-breaker.ts'

let now = 0
let breaker: CircuitBreaker
beforeEach(() => {
  now = 0
  breaker = new CircuitBreaker(() => now)
})

function failTimes(times: number): void {
  for (let at = 0; at < times; at += 1) {
    breaker.admit()
    breaker.fail()
  }
}

test('failures between successes leave it closed', () => {
  failTimes(4)
  breaker.succeed()
  failTimes(4)
  expect(breaker.admit()).toBeUndefined()
})

test('five failures in a row open it, and the wait is named', () => {
  failTimes(5)
  expect(breaker.admit()).toBe(5_000)
  now = 4_000
  expect(breaker.admit()).toBe(1_000)
})

test('one attempt is admitted, and its success closes it', () => {
  failTimes(5)
  now = 5_000
  expect(breaker.admit()).toBeUndefined()
  expect(breaker.admit()).toBeGreaterThan(0)
  breaker.succeed()
  expect([breaker.admit(), breaker.admit()]).toEqual([undefined, undefined])
})

test('an attempt that fails opens it for longer, up to a minute', () => {
  failTimes(5)
  const waits = [1, 2, 3, 4, 5].map(() => {
    now += breaker.admit() ?? 0
    breaker.admit()
    breaker.fail()
    return breaker.admit()
  })
  expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000])
})

test('an attempt without a verdict lets the next one try', () => {
  failTimes(5)
  now = 5_000
  breaker.admit()
  breaker.leave()
  expect(breaker.admit()).toBeUndefined()
})

test('requests that were under way when it opened do not prolong it', () => {
  failTimes(5)
  now = 3_000
  breaker.fail()
  expect(breaker.admit()).toBe(2_000)
})

// Repeated occurrences of one cause: one report in an interval, with the count of those left out.
import { expect, test } from 'vitest'
import { findFailureCause, reportThrottle } from './report-throttle.ts'

test('a cause is reported once in an interval, and then with the number since its last report', () => {
  let now = 0
  const throttle = reportThrottle(() => now, 1_000)
  expect([throttle('a'), throttle('a'), throttle('a')]).toEqual([1, undefined, undefined])
  now = 999
  expect(throttle('a')).toBeUndefined()
  now = 1_000
  expect([throttle('a'), throttle('a')]).toEqual([4, undefined])
})

test('each cause is counted by itself', () => {
  const throttle = reportThrottle(() => 0)
  expect([throttle('a'), throttle('b'), throttle('b')]).toEqual([1, 1, undefined])
})

test('the cause of an error is its class, its code and where it was thrown, whatever its message quotes', () => {
  const fail = (text: string, code?: string) => Object.assign(new Error(text), code === undefined ? {} : { code })
  expect(findFailureCause(fail('a'))).toBe(findFailureCause(fail('b\n    at c')))
  expect(findFailureCause(fail('a', 'EIO'))).not.toBe(findFailureCause(fail('a', 'ENOSPC')))
  expect(findFailureCause(fail('a'))).not.toBe(findFailureCause(new TypeError('a')))
  expect(findFailureCause('text of a caller')).toBe('string')
})

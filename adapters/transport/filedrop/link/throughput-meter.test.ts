// Throughput of the last minutes, independent of earlier counts and of how often it is recorded.
import { expect, test } from 'vitest'
import { throughputMeter } from './throughput-meter.ts'

const minute_ms = 60_000

test('the rate is zero within the first second', () => {
  const meter = throughputMeter()
  expect(meter.perMinute(7, 0)).toBe(0)
  meter.record(7, 0)
  expect(meter.perMinute(9, 999)).toBe(0)
  expect(meter.perMinute(9, 1_000)).toBe(120)
})

test('the rate is the increase within the window divided by its length', () => {
  const meter = throughputMeter()
  for (let at = 0; at <= 30; at++) meter.record(at < 20 ? at * 100 : 2_000, at * minute_ms)
  expect(meter.perMinute(2_000, 30 * minute_ms)).toBe(0)
  expect(meter.perMinute(2_050, 30 * minute_ms)).toBe(10)
})

test('frequent and rare recording give the same rate', () => {
  const [often, seldom] = [throughputMeter(), throughputMeter()]
  for (let at = 0; at <= 10 * minute_ms; at += 100) {
    often.record(Math.floor(at / 1_000), at)
    if (at % (2 * minute_ms) === 0) seldom.record(Math.floor(at / 1_000), at)
  }
  expect(often.perMinute(600, 10 * minute_ms)).toBeCloseTo(60, 0)
  expect(seldom.perMinute(600, 10 * minute_ms)).toBe(60)
})

test('a count that decreases restarts the measurement', () => {
  const meter = throughputMeter()
  meter.record(1_000, 0)
  expect(meter.perMinute(10, minute_ms)).toBe(0)
  meter.record(10, minute_ms)
  expect(meter.perMinute(40, 2 * minute_ms)).toBe(30)
})

// The pace is that of the last minutes, whatever came before, however often it is looked at.
import { expect, test } from 'vitest'
import { throughputMeter } from './throughput-meter.ts'

const minute_ms = 60_000

test('nothing is said before a second has gone by', () => {
  const of = throughputMeter()
  expect(of.perMinute(7, 0)).toBe(0)
  of.record(7, 0)
  expect(of.perMinute(9, 999)).toBe(0)
  expect(of.perMinute(9, 1_000)).toBe(120)
})

test('what went through since the window began, by its length', () => {
  const of = throughputMeter()
  for (let at = 0; at <= 30; at++) of.record(at < 20 ? at * 100 : 2_000, at * minute_ms)
  expect(of.perMinute(2_000, 30 * minute_ms)).toBe(0)
  expect(of.perMinute(2_050, 30 * minute_ms)).toBe(10)
})

test('a look each moment is as good as one now and then', () => {
  const [often, seldom] = [throughputMeter(), throughputMeter()]
  for (let at = 0; at <= 10 * minute_ms; at += 100) {
    often.record(Math.floor(at / 1_000), at)
    if (at % (2 * minute_ms) === 0) seldom.record(Math.floor(at / 1_000), at)
  }
  expect(often.perMinute(600, 10 * minute_ms)).toBeCloseTo(60, 0)
  expect(seldom.perMinute(600, 10 * minute_ms)).toBe(60)
})

test('a count that was set back begins anew', () => {
  const of = throughputMeter()
  of.record(1_000, 0)
  expect(of.perMinute(10, minute_ms)).toBe(0)
  of.record(10, minute_ms)
  expect(of.perMinute(40, 2 * minute_ms)).toBe(30)
})

// The pace is that of the last minutes, whatever came before, however often it is looked at.
import { expect, test } from 'vitest'
import { pace } from './pace.ts'

const minute = 60_000

test('nothing is said before a second has gone by', () => {
  const of = pace()
  expect(of.perMinute(7, 0)).toBe(0)
  of.note(7, 0)
  expect(of.perMinute(9, 999)).toBe(0)
  expect(of.perMinute(9, 1_000)).toBe(120)
})

test('what went through since the window began, by its length', () => {
  const of = pace()
  for (let at = 0; at <= 30; at++) of.note(at < 20 ? at * 100 : 2_000, at * minute)
  expect(of.perMinute(2_000, 30 * minute)).toBe(0)
  expect(of.perMinute(2_050, 30 * minute)).toBe(10)
})

test('a look each moment is as good as one now and then', () => {
  const [often, seldom] = [pace(), pace()]
  for (let at = 0; at <= 10 * minute; at += 100) {
    often.note(Math.floor(at / 1_000), at)
    if (at % (2 * minute) === 0) seldom.note(Math.floor(at / 1_000), at)
  }
  expect(often.perMinute(600, 10 * minute)).toBeCloseTo(60, 0)
  expect(seldom.perMinute(600, 10 * minute)).toBe(60)
})

test('a count that was set back begins anew', () => {
  const of = pace()
  of.note(1_000, 0)
  expect(of.perMinute(10, minute)).toBe(0)
  of.note(10, minute)
  expect(of.perMinute(40, 2 * minute)).toBe(30)
})

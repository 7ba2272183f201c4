// Even odds are worth most, certainty is worth nothing, and of two equal questions the one that moves more comes first.
import { expect, test } from 'vitest'
import { chanceAt, effectOf, opennessOf, worthOf } from './worth.ts'

const alone = { linked: false, left_size: 1, right_size: 1 }

test('even odds are one bit, certainty none, and both sides are alike', () => {
  expect(opennessOf(0.5)).toBe(1)
  expect([opennessOf(0), opennessOf(1)]).toEqual([0, 0])
  expect(opennessOf(0.2)).toBeCloseTo(opennessOf(0.8), 12)
  // -.25 log2 .25 - .75 log2 .75
  expect(opennessOf(0.25)).toBeCloseTo(0.811_278_124_459_132_8, 12)
})

test('a confirm moves every cross pair, a reject at least one record away from the others', () => {
  expect(effectOf({ linked: false, left_size: 3, right_size: 4 })).toBe(12)
  expect(effectOf({ linked: true, left_size: 5, right_size: 5 })).toBe(4)
  expect(effectOf({ linked: true, left_size: 2, right_size: 2 })).toBe(1)
})

test('of equal odds the larger effect comes first; a certain answer is never asked for', () => {
  expect(worthOf(0.5, alone)).toBe(1)
  expect(worthOf(0.5, { ...alone, left_size: 3 })).toBe(2)
  expect(worthOf(0.9, { ...alone, left_size: 3 })).toBeLessThan(1)
  expect(worthOf(1, { linked: true, left_size: 1_000, right_size: 1_000 })).toBe(0)
})

test('a likeness is worth as much as odds: all at the cut, less on either side, nothing far away', () => {
  expect(worthOf(chanceAt(0), alone)).toBe(1)
  // .04 of likeness is one nat: 1 / (1 + 1 / e)
  expect(chanceAt(0.04)).toBeCloseTo(0.731_058_578_630_004_9, 12)
  const worths = [0, 0.02, 0.08, 0.2].map((above) => worthOf(chanceAt(above), alone))
  expect(worths).toEqual(worths.toSorted((one, other) => other - one))
  expect(worthOf(chanceAt(-0.08), alone)).toBeCloseTo(worthOf(chanceAt(0.08), alone), 12)
  expect(worthOf(chanceAt(0.6), alone)).toBeLessThan(0.05)
})

// The bit-parallel kernels give the results of their plain definitions.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildDictionary } from './dictionary.ts'
import { StringMatcher } from './string-matcher.ts'

/** Computes the distance by its definition, letter by letter. */
function computeDistanceByDefinition(a: string, b: string, hasSwaps = true): number {
  const table = Array.from({ length: a.length + 1 }, (_, y) => Array.from({ length: b.length + 1 }, (_, x) => x + y))
  const at = (y: number, x: number) => table[y]?.[x] ?? 0
  for (let y = 1; y <= a.length; y++) {
    for (let x = 1; x <= b.length; x++) {
      const same = a[y - 1] === b[x - 1] ? 0 : 1
      let cost = Math.min(at(y - 1, x) + 1, at(y, x - 1) + 1, at(y - 1, x - 1) + same)
      if (hasSwaps && y > 1 && x > 1 && a[y - 1] === b[x - 2] && a[y - 2] === b[x - 1])
        cost = Math.min(cost, at(y - 2, x - 2) + 1)
      ;(table[y] ?? [])[x] = cost
    }
  }
  return at(a.length, b.length)
}

function computeJaroWinklerByDefinition(a: string, b: string): number {
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const matchedOfA = new Set<number>()
  const lettersOfB: string[] = []
  for (const [at, letter] of [...b].entries()) {
    const match = [...a].findIndex(
      (candidate, index) => candidate === letter && Math.abs(index - at) <= reach && !matchedOfA.has(index),
    )
    if (match < 0) continue
    matchedOfA.add(match)
    lettersOfB.push(letter)
  }
  const lettersOfA = [...a].filter((_, index) => matchedOfA.has(index))
  if (lettersOfA.length === 0) return 0
  const moved = Math.floor(lettersOfA.filter((letter, at) => letter !== lettersOfB[at]).length / 2)
  const jaro =
    (lettersOfA.length / a.length + lettersOfA.length / b.length + (lettersOfA.length - moved) / lettersOfA.length) / 3
  let prefix = 0
  while (prefix < Math.min(4, a.length, b.length) && a[prefix] === b[prefix]) prefix++
  return jaro + prefix * 0.1 * (1 - jaro)
}

const createMatcher = (...values: string[]) => new StringMatcher(buildDictionary(values))
const arbitraryLetters = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', 'ж'), minLength: 1, maxLength })

describe('distance', () => {
  test.each([
    ['smith', 'smiht', 1],
    ['ca', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['a', 'a', 0],
  ])('%s and %s are %i apart', (a, b, distance) => {
    expect(createMatcher(a, b).distance(0, 1, 9)).toBe(distance)
  })

  test('equals its definition, capped above the requested maximum', () => {
    fc.assert(
      fc.property(arbitraryLetters(40), arbitraryLetters(40), fc.nat(6), (a, b, max_distance) => {
        expect(createMatcher(a, b).distance(0, 1, max_distance)).toBe(
          Math.min(max_distance + 1, computeDistanceByDefinition(a, b)),
        )
      }),
      { numRuns: 500 },
    )
  })

  test.each(['swaps', 'no_swaps'] as const)('equals its definition for long values, with %s', (swaps) => {
    const long = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 30, maxLength: 150 })
    fc.assert(
      fc.property(long, long, fc.nat(150), (a, b, max_distance) => {
        const matcher = new StringMatcher(buildDictionary([a, b, 'x']), swaps)
        const expected = computeDistanceByDefinition(a, b, swaps === 'swaps')
        expect(matcher.distance(0, 1, max_distance)).toBe(Math.min(max_distance + 1, expected))
        expect(matcher.distance(1, 0, 150)).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('does not depend on earlier comparisons', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(arbitraryLetters(12), arbitraryLetters(70)), { minLength: 3, maxLength: 6 }),
        (values) => {
          const matcher = createMatcher(...values)
          for (const [a, left] of values.entries()) {
            for (const [b, right] of values.entries()) {
              expect(matcher.distance(a, b, 70)).toBe(computeDistanceByDefinition(left, right))
              const [leftHead, rightHead] = [left.slice(0, 32), right.slice(0, 32)]
              expect(matcher.jaroWinkler(a, b, 0)).toBeCloseTo(computeJaroWinklerByDefinition(leftHead, rightHead), 12)
            }
          }
        },
      ),
    )
  })
})

describe('Jaro-Winkler', () => {
  // The examples of Winkler, "Overview of Record Linkage and Current Research Directions", 2006, table 6.
  test.each([
    ['martha', 'marhta', 0.961],
    ['dwayne', 'duane', 0.84],
    ['dixon', 'dicksonx', 0.813],
  ])('of %s and %s is %f', (a, b, similarity) => {
    expect(createMatcher(a, b).jaroWinkler(0, 1, 0)).toBeCloseTo(similarity, 3)
  })

  test('may be 0 below the requested minimum, and is exact otherwise', () => {
    fc.assert(
      fc.property(
        arbitraryLetters(20),
        arbitraryLetters(20),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (a, b, least) => {
          const similarity = createMatcher(a, b).jaroWinkler(0, 1, least)
          const expected = computeJaroWinklerByDefinition(a, b)
          if (expected >= least) expect(similarity).toBeCloseTo(expected, 12)
          else expect([0, similarity]).toContain(similarity)
        },
      ),
      { numRuns: 500 },
    )
  })
})

// Compares the rule of combination with published examples and with the theorems of Dempster-Shafer theory.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildFrame,
  dempsterVectors,
  encodeMasses,
  encodeSubset,
} from '../../../../test/support/consensus/dempster-vectors.ts'
import { combineSources, conjunctive, type DempsterCombination, dempster } from './dempster-rule.ts'
import {
  addMass,
  belief,
  type FrameSubset,
  type Mass,
  massAt,
  pignistic,
  plausibility,
  vacuous,
  wholeFrame,
  zeroMass,
} from './mass.ts'

const precision = 6

/** A mass function with these masses; their subsets must be non-empty. */
function massOf(singletons: number, entries: Iterable<readonly [FrameSubset, number]>): Mass {
  const mass = zeroMass(singletons)
  for (const [subset, value] of entries) addMass(mass, subset, value, 0)
  return mass
}

/** Shafer discounting: each mass times the reliability in [0, 1]; the remainder goes to the whole frame. */
function discount(mass: Mass, reliability: number): Mass {
  const discounted = zeroMass(mass.singletons)
  for (let subset = 1; subset < mass.mantissa.length; subset++) {
    addMass(discounted, subset, (mass.mantissa[subset] ?? 0) * reliability, mass.exponent[subset] ?? 0)
  }
  addMass(discounted, wholeFrame(mass), 1 - reliability, 0)
  return discounted
}

/** Compares to 1e-6 rather than half of it: six published decimals are themselves rounded. */
function expectClose(actual: number, published: number): void {
  expect(Math.abs(actual - published)).toBeLessThanOrEqual(1e-6)
}

function expectMasses(actual: Mass, frame: string, published: Record<string, number>): void {
  const expected = new Map(encodeMasses(frame, published))
  for (let subset = 1; subset < 2 ** frame.length; subset++)
    expectClose(massAt(actual, subset), expected.get(subset) ?? 0)
}

describe('published examples', () => {
  const pairs = dempsterVectors.flatMap(({ m1, m2, frame, ...published }) => {
    if (m1 === undefined || m2 === undefined) return []
    const letters = frame ?? buildFrame(m1, m2)
    const a = massOf(letters.length, encodeMasses(letters, m1))
    const b = massOf(letters.length, encodeMasses(letters, m2))
    return [{ ...published, frame: letters, a, b }]
  })

  test('the file of vectors is complete', () => {
    const holding = (field: 'K' | 'conj' | 'dempster') => pairs.filter((pair) => pair[field] !== undefined).length
    expect({ K: holding('K'), conj: holding('conj'), dempster: holding('dempster') }).toEqual({
      K: 9,
      conj: 1,
      dempster: 8,
    })
  })

  test.for(pairs.filter(({ K }) => K !== undefined))('$id: K ($src)', ({ a, b, K }) => {
    expectClose(massAt(conjunctive(a, b), 0), K ?? Number.NaN)
    expectClose(dempster(a, b).K, K ?? Number.NaN)
  })

  test.for(pairs.filter(({ conj }) => conj !== undefined))('$id: conjunctive ($src)', ({ a, b, conj, frame }) => {
    expectMasses(conjunctive(a, b), frame, conj ?? {})
  })

  test.for(pairs.filter(({ dempster }) => dempster !== undefined))('$id: Dempster ($src)', (published) => {
    const { mass, K } = dempster(published.a, published.b)
    if (published.dempster === 'UNDEFINED') return expect({ mass, K }).toEqual({ mass: null, K: 1 })
    if (mass === null) throw new Error('total conflict where the publication has none')
    expectMasses(mass, published.frame, published.dempster ?? {})
  })

  test('Z99: Dempster after Shafer discounting by .9', () => {
    const [zadeh] = pairs
    if (zadeh === undefined) throw new Error('Z99 must be the first vector')
    const { mass } = dempster(discount(zadeh.a, 0.9), discount(zadeh.b, 0.9))
    if (mass === null) throw new Error('discounted sources must not conflict totally')
    expectMasses(mass, zadeh.frame, zadeh['dempster_after_shafer_discount_0.9'] ?? {})
  })

  test('SL3: belief constraint fusion of three opinions is Dempster’s rule (three decimals published)', () => {
    const actual = dempsterVectors.find(({ id }) => id === 'SL3')
    const sources = (actual?.opinions_bdu ?? []).map(([yes, no, either]) =>
      massOf(2, [
        [1, yes],
        [2, no],
        [3, either],
      ]),
    )
    const { mass } = combineAll(2, sources)
    const masses = [1, 2, 3].map((subset) => (mass === null ? Number.NaN : massAt(mass, subset)))
    for (const [at, published] of (actual?.BCF_eq_dempster ?? [Number.NaN]).entries()) {
      expect(masses[at]).toBeCloseTo(published, 3)
    }
  })

  test('PYDS: belief, plausibility and pignistic probability follow from the combined masses', () => {
    const pyds = pairs.find(({ id }) => id === 'PYDS')
    const mass = pyds === undefined ? null : dempster(pyds.a, pyds.b).mass
    if (pyds === undefined || mass === null) throw new Error('PYDS combines')
    const a = encodeSubset(pyds.frame, 'A')
    expect(belief(mass, a)).toBeCloseTo(0.15 / 0.55, precision)
    expect(plausibility(mass, a)).toBeCloseTo(0.24 / 0.55, precision)
    expect(pignistic(mass, a)).toBeCloseTo(0.195 / 0.55, precision)
    expect(belief(mass, encodeSubset(pyds.frame, 'AC'))).toBeCloseTo(0.3 / 0.55, precision)
  })
})

function combineAll(singletons: number, sources: readonly Mass[]): DempsterCombination {
  return combineSources(singletons, sources.length, (at) => sources[at] ?? vacuous(singletons))
}

/** Mass functions on three singletons, from integer shares. */
const massFunctions = fc
  .array(fc.nat({ max: 9 }), { minLength: 7, maxLength: 7 })
  .filter((shares) => shares.some((share) => share > 0))
  .map((shares) => {
    const sum = shares.reduce((total, share) => total + share, 0)
    return massOf(
      3,
      shares.map((share, at) => [at + 1, share / sum] as const),
    )
  })

describe('properties', () => {
  test('the order of two sources does not matter', () => {
    fc.assert(
      fc.property(massFunctions, massFunctions, (a, b) => {
        const [ab, ba] = [dempster(a, b), dempster(b, a)]
        expect(ab.K).toBeCloseTo(ba.K, 12)
        expect(ab.mass === null).toBe(ba.mass === null)
        if (ab.mass === null || ba.mass === null) return
        for (let subset = 1; subset < 8; subset++) {
          expect(massAt(ab.mass, subset)).toBeCloseTo(massAt(ba.mass, subset), 12)
        }
      }),
    )
  })

  test('belief <= pignistic probability <= plausibility, and masses sum to one', () => {
    fc.assert(
      fc.property(
        fc.array(massFunctions, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 7 }),
        (sources, subset) => {
          const { mass, K } = combineAll(3, sources)
          if (mass === null) return expect(K).toBe(1)
          expect(K).toBeLessThan(1)
          expect(belief(mass, subset)).toBeLessThanOrEqual(pignistic(mass, subset) + 1e-12)
          expect(pignistic(mass, subset)).toBeLessThanOrEqual(plausibility(mass, subset) + 1e-12)
          expect(belief(mass, 7)).toBeCloseTo(1, 12)
        },
      ),
    )
  })

  test('a vacuous source changes no bit', () => {
    fc.assert(
      fc.property(fc.array(massFunctions, { maxLength: 4 }), fc.nat({ max: 4 }), (sources, at) => {
        expect(combineAll(3, sources.toSpliced(at, 0, vacuous(3)))).toEqual(combineAll(3, sources))
        expect(combineAll(3, sources.toSpliced(at, 0, discount(firstSource(sources), 0)))).toEqual(
          combineAll(3, sources),
        )
      }),
    )
  })

  test('K is global: one minus the product of what each step leaves', () => {
    fc.assert(
      fc.property(massFunctions, massFunctions, massFunctions, (a, b, c) => {
        const joint = conjunctive(conjunctive(a, b), c)
        const unnormalised = [1, 2, 3, 4, 5, 6, 7].reduce((sum, subset) => sum + massAt(joint, subset), 0)
        expect(combineAll(3, [a, b, c]).K).toBeCloseTo(1 - unnormalised, 12)
      }),
    )
  })
})

function firstSource(sources: readonly Mass[]): Mass {
  return sources[0] ?? vacuous(3)
}

describe('extremes', () => {
  test('a thousand contrary sources do not make a possibility vanish', () => {
    const contrary = massOf(2, [
      [1, 0.1],
      [2, 0.9],
    ])
    const certain = massOf(2, [[1, 1]])
    const { mass, K } = combineAll(2, [...Array.from({ length: 999 }, () => contrary), certain])
    expect(mass === null ? null : massAt(mass, 1)).toBe(1)
    expect(K).toBeLessThan(1)
  })

  test('masses of very different size add up', () => {
    const mass = zeroMass(2)
    addMass(mass, 1, 1e-200, 0)
    addMass(mass, 1, 0.5, 0)
    addMass(mass, 1, 0.25, 0)
    expect(massAt(mass, 1)).toBe(0.75)
    addMass(mass, 2, 5e-324, 0)
    expect(massAt(mass, 2)).toBe(5e-324)
    addMass(mass, 2, 5e-324, 0)
    expect(massAt(mass, 2)).toBe(1e-323)
  })

  test('a frame that is too large and a different frame are refused', () => {
    expect(() => zeroMass(9)).toThrow(RangeError)
    expect(() => dempster(vacuous(2), vacuous(3))).toThrow(RangeError)
  })
})

// Builds opinions for tests: from a list of numbers, or at random with emphasis on the corners.
import fc from 'fast-check'
import type { Opinion } from '../../../daemon/roles/consensus/combine/opinion.ts'

/** One opinion per tuple of score, accuracy (1) and credibility (1), by contributors c1, c2, ... */
export function buildOpinions(...scores: readonly (readonly [number, number?, number?])[]): Opinion[] {
  return scores.map(([pair_score, accuracy = 1, credibility = 1], at) => ({
    contributor_id: `c${at + 1}`,
    pair_score,
    accuracy,
    credibility,
  }))
}

/** A number in [0, 1]: corners, decimals, subnormals, anything. */
const share = fc.oneof(
  fc.constantFrom(0, 1, 0.5, 0.8, 0.2, 5e-324, 1e-200, 1 - 2 ** -53),
  fc.integer({ min: 0, max: 100 }).map((hundredths) => hundredths / 100),
  fc.double({ min: 0, max: 1, noNaN: true }),
)

const figures = fc.tuple(share, share, share)

/** Lists of up to `maxLength` opinions, one per contributor, many of them with equal numbers. */
export function opinionLists(maxLength = 24): fc.Arbitrary<Opinion[]> {
  return fc.array(figures, { maxLength }).map((list) => buildOpinions(...list))
}

/** A list and the same opinions in another order. */
export function shuffledLists(maxLength = 24): fc.Arbitrary<[Opinion[], Opinion[]]> {
  return opinionLists(maxLength).chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  )
}

export const combinationMethods = fc.constantFrom('weighted_average' as const, 'dempster_shafer' as const)

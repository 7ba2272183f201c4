// Estimates m with u fixed: for candidates that were chosen because they agree, which makes chance agreement
// unobservable.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import { computeProbabilities, estimateModel, type MatchModel, scorePatterns } from './model.ts'

export type FixedUTraining = {
  /** Its u comes from random pairs of all rows, and stays fixed. */
  readonly first: MatchModel
  readonly comparing: PairComparer
  /** For each field, how many times over other fields repeat its evidence. */
  readonly copies: readonly number[]
  readonly rows: number
}

/**
 * Expectation-maximisation over the patterns of the candidates. Estimates m; lambda refers to any pair of rows, on the
 * assumption that all matches are among the candidates.
 */
export function trainWithFixedU(
  { first, comparing, copies, rows }: FixedUTraining,
  histogram: PatternHistogram,
  rounds: number,
): MatchModel {
  const { counts } = histogram
  let model = shareEvidence(first, copies)
  for (let round = 0; round < rounds; round++) {
    const matches = computeProbabilities(scorePatterns(model, comparing, histogram))
    const { m } = estimateModel(comparing, histogram, matches)
    const matching = matches.reduce((sum, match, pattern) => sum + match * counts[pattern]!, 0)
    const lambda = Math.max(matching, 1) / ((rows * (rows - 1)) / 2)
    model = shareEvidence({ m, u: first.u, lambda }, copies)
  }
  return model
}

/** Divides ln(m / u) of each field by its copies, so that fields with the same evidence share its weight. */
function shareEvidence({ m, u, lambda }: MatchModel, copies: readonly number[]): MatchModel {
  const nearer = u.map((of, field) => {
    return of.map((chance, outcome) => {
      const match = m[field]![outcome]!
      return outcome === 0 ? 0 : match * (chance / match) ** (1 / copies[field]!)
    })
  })
  return { m, u: nearer, lambda }
}

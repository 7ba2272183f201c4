// Estimates m with fixed u, for candidates chosen because they agree: chance agreement cannot be observed among them.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import { computeProbabilities, estimateModel, type MatchModel, scorePatterns } from './model.ts'

export type FixedUTraining = {
  /** The initial model; its u comes from random pairs of all rows, and stays fixed. */
  readonly initial: MatchModel
  readonly comparer: PairComparer
  /** Number of times that other fields repeat the evidence of each field. */
  readonly copies: readonly number[]
  readonly rows: number
}

/** Even odds: one match among the single pair of two records would be certain before any evidence, and its score infinite. */
const max_prior = 0.5

/**
 * Estimates m by expectation-maximisation over the patterns of the candidates. Lambda refers to any pair of rows, on
 * the assumption that all matches are among the candidates.
 */
export function trainWithFixedU(
  { initial, comparer, copies, rows }: FixedUTraining,
  histogram: PatternHistogram,
  rounds: number,
): MatchModel {
  const { counts } = histogram
  let model = shareEvidence(initial, copies)
  for (let round = 0; round < rounds; round++) {
    const matches = computeProbabilities(scorePatterns(model, comparer, histogram))
    const { m } = estimateModel(comparer, histogram, matches)
    const matching = matches.reduce((sum, match, pattern) => sum + match * counts[pattern]!, 0)
    const lambda = Math.min(max_prior, Math.max(matching, 1) / ((rows * (rows - 1)) / 2))
    model = shareEvidence({ m, u: initial.u, lambda }, copies)
  }
  return model
}

/** Divides ln(m / u) of each field by its copies, so that fields with the same evidence share its weight. */
function shareEvidence({ m, u, lambda }: MatchModel, copies: readonly number[]): MatchModel {
  const adjusted = u.map((chances, field) => {
    return chances.map((chance, outcome) => {
      const match = m[field]![outcome]!
      return outcome === 0 ? 0 : match * (chance / match) ** (1 / copies[field]!)
    })
  })
  return { m, u: adjusted, lambda }
}

// Learns what matches look like while it stays known what chance looks like: for candidates that were chosen for agreeing.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import { computeProbabilities, estimateModel, type MatchModel, scorePatterns } from './model.ts'

export type FixedUTraining = {
  /** Its u is that of pairs drawn from all, and stays. */
  readonly first: MatchModel
  readonly comparing: PairComparer
  /** Of each field, how many times over its evidence is told. */
  readonly copies: readonly number[]
  readonly rows: number
}

/**
 * Expectation and maximisation, so many times, over the patterns of the candidates; m is learnt, and lambda is of any pair of
 * rows to be a match: all matches that there are stand among the candidates.
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

/** Fields that tell the same share what they say: ln(m / u) of each is divided by its copies. */
function shareEvidence({ m, u, lambda }: MatchModel, copies: readonly number[]): MatchModel {
  const nearer = u.map((of, field) => {
    return of.map((chance, outcome) => {
      const match = m[field]![outcome]!
      return outcome === 0 ? 0 : match * (chance / match) ** (1 / copies[field]!)
    })
  })
  return { m, u: nearer, lambda }
}

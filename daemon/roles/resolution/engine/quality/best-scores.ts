// The best score that each record could reach: with a partner that has the same values.
import type { LensRecords } from '../records/records.ts'
import type { MatchWeights } from '../score/match-weights.ts'
import { computeFrequencyTerms } from '../score/pair-scores.ts'

/** Computes the score of each record with an equal one, in natural log-odds. */
export function computeBestScores(
  { fields, rows }: LensRecords,
  { outcomes, hasFrequencies }: MatchWeights,
  prior: number,
): Float64Array {
  const weighted = fields.map((field, at) => ({ ...field, hasFrequencies: hasFrequencies[at] ?? false }))
  const terms = computeFrequencyTerms(weighted, rows, false)
  const best = new Float64Array(rows).fill(prior)
  for (const [field, { column }] of fields.entries()) {
    const [missing = 0, equal = 0] = outcomes[field] ?? []
    for (let row = 0; row < rows; row++) {
      const code = column.codes[row]!
      best[row]! += code < 0 ? missing : equal + (terms[field]?.[code] ?? 0)
    }
  }
  return best
}

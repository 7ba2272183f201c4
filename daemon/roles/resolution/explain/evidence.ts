// Builds the evidence for a stored match: names of levels, and the values that the viewer may see.
import { isCapped } from '../engine/compare/cap-values.ts'
import type { StoredMatch } from '../entity-match/model.ts'
import { listLevelLabels } from '../lens/field.ts'
import type { Lens } from '../lens/model.ts'
import type { MatchEvidence } from './waterfall.ts'

type VisibleValues = Readonly<Record<string, string>> | undefined

/**
 * Builds the evidence. `left`, `right`: normalised values by field; undefined where the viewer may not see the record,
 * or the record is unknown.
 */
export function buildMatchEvidence(
  match: Pick<StoredMatch, 'score' | 'levels' | 'prior_bits' | 'found_by'>,
  lens: Lens,
  left: VisibleValues,
  right: VisibleValues,
): MatchEvidence {
  const fields = match.levels.map(({ field, outcome, bits = 0, frequency_bits = 0 }) => {
    const lensField = lens.fields.find(({ name }) => name === field)
    const labels = lensField ? listLevelLabels(lensField, field === lens.swapped?.[0]) : []
    const level = outcome === 0 ? undefined : (labels[outcome - 1] ?? `level ${outcome}`)
    const [leftValue, rightValue] = [left?.[field], right?.[field]]
    const truncated = outcome > 1 && [leftValue, rightValue].some((text) => text !== undefined && isCapped(text))
    return { field, left: leftValue, right: rightValue, level, truncated, bits, frequency_bits }
  })
  const { score, prior_bits = 0, found_by = [] } = match
  if (score.likeness === undefined) return { scale: 'log_odds', base: prior_bits, per_bit: 1, fields, found_by }
  // The engine adds the log-odds of the fields to the similarity of the texts, times this factor of the lens.
  const per_bit = lens.text_evidence * Math.LN2
  const field_bits = fields.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
  return { scale: 'likeness', base: score.likeness - per_bit * field_bits, per_bit, fields, found_by }
}

// Builds the evidence for a stored match: names of levels, and the values that the viewer may see.
import { findSharedKeys } from '../engine/block/keys.ts'
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
  { value }: { readonly value: Pick<StoredMatch, 'levels' | 'prior_bits'> },
  lens: Lens,
  left: VisibleValues,
  right: VisibleValues,
): MatchEvidence {
  const fields = value.levels.map(({ field, outcome, bits = 0, frequency_bits = 0 }) => {
    const lensField = lens.fields.find(({ name }) => name === field)
    const labels = lensField ? listLevelLabels(lensField, field === lens.swapped?.[0]) : []
    const level = outcome === 0 ? undefined : (labels[outcome - 1] ?? `level ${outcome}`)
    const [leftValue, rightValue] = [left?.[field], right?.[field]]
    const truncated = outcome > 1 && [leftValue, rightValue].some((text) => text !== undefined && isCapped(text))
    return { field, left: leftValue, right: rightValue, level, truncated, bits, frequency_bits }
  })
  const found_by = lens.fields.flatMap(({ name, type }) => {
    const [leftValue, rightValue] = [left?.[name], right?.[name]]
    return leftValue && rightValue ? findSharedKeys(type, leftValue, rightValue).map((key) => `${name}: ${key}`) : []
  })
  return { prior_bits: value.prior_bits ?? 0, fields, found_by }
}

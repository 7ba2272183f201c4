// Builds the evidence for a stored match: names of levels, and values as far as the viewer may see them.
import { findSharedKeys } from '../engine/block/keys.ts'
import type { StoredMatch } from '../entity-match/model.ts'
import { listLevelLabels } from '../lens/field.ts'
import type { Lens } from '../lens/model.ts'
import type { MatchEvidence } from './waterfall.ts'

type VisibleValues = Readonly<Record<string, string>> | undefined

/**
 * `left`, `right`: values by field in normal form; undefined where the viewer may not see the record, or it is unknown.
 */
export function buildMatchEvidence(
  { value }: { readonly value: Pick<StoredMatch, 'levels' | 'prior_bits'> },
  lens: Lens,
  left: VisibleValues,
  right: VisibleValues,
): MatchEvidence {
  const fields = value.levels.map(({ field, outcome, bits = 0, frequency_bits = 0 }) => {
    const of = lens.fields.find(({ name }) => name === field)
    const labels = of ? listLevelLabels(of, field === lens.swapped?.[0]) : []
    const level = outcome === 0 ? undefined : (labels[outcome - 1] ?? `level ${outcome}`)
    return { field, left: left?.[field], right: right?.[field], level, bits, frequency_bits }
  })
  const found_by = lens.fields.flatMap(({ name, type }) => {
    const [one, other] = [left?.[name], right?.[name]]
    return one && other ? findSharedKeys(type, one, other).map((key) => `${name}: ${key}`) : []
  })
  return { prior_bits: value.prior_bits ?? 0, fields, found_by }
}

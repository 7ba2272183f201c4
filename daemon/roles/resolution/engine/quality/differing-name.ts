// Finds a name that most links contradict: they join what belongs together, such as a family, and not what is the same.
import type { ResultQuality } from '../../fusion-run/result-quality.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import type { MatchWeights } from '../score/match-weights.ts'
import { computeChanceAgreement } from '../score/overlap.ts'
import { countRows, type DictionaryColumn } from '../text/dictionary.ts'
import { roundFigure } from './round-figure.ts'

/** Share of the links whose two records have a name, and of these the share with different ones. */
const min_known_share = 0.5
const min_differing_share = 0.5
/** Random records have equal names less often; commoner values are kinds of a thing, not names. */
const max_chance_agreement = 0.02

/**
 * Returns the field of type `name` that differs in most links, and the share of all links that do. Records of one entity have
 * one name, by and large: in labelled tables, at most a third of the right links differ in a name.
 */
export function findDifferingName(
  { fields }: Pick<LensRecords, 'fields'>,
  linked: PatternHistogram,
  swapped: readonly [number, number] | undefined,
  { outcomes }: MatchWeights,
): ResultQuality['differing_name'] {
  const differing = fields.flatMap(({ name, type, column }, field) => {
    if (type !== 'name' || isCommon(column)) return []
    // The last two outcomes of swapped fields stand for a swap.
    const lowest = outcomes[field]!.length - 1 - (field === swapped?.[0] ? 2 : 0)
    const { links, known, different } = countOutcomes(linked, field, lowest)
    const isContradicted = known > links * min_known_share && different > known * min_differing_share
    return isContradicted ? [{ field: name, share: roundFigure(different / links) }] : []
  })
  return differing.sort((a, b) => b.share - a.share)[0]
}

function isCommon(column: DictionaryColumn): boolean {
  const sizes = countRows(column)
  const rows = sizes.reduce((sum, size) => sum + size, 0)
  return rows < 2 || computeChanceAgreement(sizes, rows) > max_chance_agreement
}

function countOutcomes(linked: PatternHistogram, field: number, lowest: number) {
  let [links, known, different] = [0, 0, 0]
  for (const [pattern, count] of linked.counts.entries()) {
    const outcome = linked.patterns[pattern * linked.fields + field]!
    links += count
    if (outcome > 0) known += count
    if (outcome === lowest) different += count
  }
  return { links, known, different }
}

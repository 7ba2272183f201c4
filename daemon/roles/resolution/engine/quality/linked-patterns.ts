// Counts the outcomes of fields in linked pairs: finds the fields that carried the links, and the links of unlike records.
import type { ResultQuality } from '../../fusion-run/result-quality.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import type { Resolution } from '../resolve.ts'
import { computeWeightedTerms, type MatchWeights } from '../score/match-weights.ts'
import { createLinkTest } from './heights.ts'
import { roundFigure } from './round-figure.ts'

/** Counts the linked pairs of each pattern. */
export function countLinkedPatterns(resolution: Resolution): Float64Array {
  const { compared } = resolution
  const isLinked = createLinkTest(resolution)
  const counts = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) if (isLinked(pair)) counts[compared.patternOf[pair]!]!++
  return counts
}

/** The mean weight of each field in the links, with the rarity of equal values, strongest first. */
export function measureFieldBits(
  records: Pick<LensRecords, 'fields' | 'rows'>,
  resolution: Resolution,
  linked: PatternHistogram,
  weights: MatchWeights,
): ResultQuality['carried_by'] {
  const { fields } = records
  const links = linked.counts.reduce((sum, count) => sum + count, 0)
  const sums = sumRarity(records, resolution, weights)
  for (const [pattern, count] of linked.counts.entries()) {
    for (let field = 0; count > 0 && field < fields.length; field++)
      sums[field]! += count * weights.outcomes[field]![linked.patterns[pattern * linked.fields + field]!]!
  }
  return fields
    .map(({ name }, field) => ({ field: name, bits: links === 0 ? 0 : roundFigure(sums[field]! / links / Math.LN2) }))
    .sort((a, b) => b.bits - a.bits)
}

/** Sums, by field, the frequency terms of the equal values in linked pairs. */
function sumRarity(
  { fields, rows }: Pick<LensRecords, 'fields' | 'rows'>,
  resolution: Resolution,
  weights: MatchWeights,
): Float64Array {
  const { patternOf, patterns, lefts, length, fields: width } = resolution.compared
  const isLinked = createLinkTest(resolution)
  const terms = computeWeightedTerms(fields, rows, weights)
  const sums = new Float64Array(fields.length)
  for (let pair = 0; pair < length; pair++) {
    if (!isLinked(pair)) continue
    for (let field = 0; field < fields.length; field++) {
      const isEqual = patterns[patternOf[pair]! * width + field] === 1
      if (isEqual) sums[field]! += terms[field]?.[fields[field]!.column.codes[lefts[pair]!]!] ?? 0
    }
  }
  return sums
}

/**
 * Measures the share of links whose records are unlike, in the lower half of the levels, in most of the fields that both
 * have: a model that took the likeness of one field for identity makes such links. The last two outcomes of swapped fields
 * stand for a swap.
 */
export function measureUnlikeShare(
  linked: PatternHistogram,
  swapped: readonly [number, number] | undefined,
  { outcomes }: MatchWeights,
): number {
  const levels = outcomes.map(({ length }, field) => length - 1 - (field === swapped?.[0] ? 2 : 0))
  let [links, unlike] = [0, 0]
  for (const [pattern, count] of linked.counts.entries()) {
    if (count === 0) continue
    const found = levels.map((_, field) => linked.patterns[pattern * linked.fields + field]!)
    const known = found.filter((outcome) => outcome > 0).length
    const low = levels.filter((most, field) => found[field]! > most / 2 && found[field]! <= most).length
    links += count
    if (low > known / 2) unlike += count
  }
  return links === 0 ? 0 : unlike / links
}

// Detects clean sources of texts, which list each entity once: a record then has at most one match, and all its other
// candidates are known non-matches.
import { max_partner_share } from './cluster/clean-sources.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import { findNearestNeighbours } from './text/nearest-neighbours.ts'
import { buildTfidfVectors } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

const min_same_text_cosine = 0.95
/** Enough for a standard error of one in a hundred at the share that decides. */
const max_sampled_texts = 1_000

/**
 * Whether one of the two sources is clean: fewer than a tenth of its records, by a sample, have a near-identical text
 * within it.
 */
export function areTextsClean(records: LensRecords): boolean {
  return [0, 1].some((source) => estimatePartnerShare(joinRecordTexts(records, source)) < max_partner_share)
}

/** Compares sampled texts with all texts of their source; each is also found as its own neighbour. */
function estimatePartnerShare(texts: readonly string[]): number {
  if (texts.length === 0) return 0
  const count = Math.min(texts.length, max_sampled_texts)
  const sampled = Array.from({ length: count }, (_, at) => Math.floor((at * texts.length) / count))
  const all = [...sampled.map((at) => texts[at]!), ...texts]
  const sides = Int32Array.from(all, (_, at) => (at < count ? 0 : 1))
  const { neighbours, cosines } = findNearestNeighbours(buildTfidfVectors(all, createTrigramTokeniser()), 2, sides)
  const partnered = sampled.filter((row, at) => {
    const other = neighbours[at * 2] === count + row ? 1 : 0
    return cosines[at * 2 + other]! >= min_same_text_cosine
  })
  return partnered.length / count
}

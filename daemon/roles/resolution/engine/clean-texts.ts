// Detects clean sources of texts, which list each entity once: a record then has at most one match, and all its other
// candidates are known non-matches.
import { max_partner_share } from './cluster/clean-sources.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import { buildTfidfVectors, findNearestNeighbours, max_neighbour_rows } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

const min_same_text_cosine = 0.95

/**
 * Whether one of the two sources is clean: fewer than a tenth of its records have a near-identical text within it.
 */
export function areTextsClean(records: LensRecords): boolean {
  if (records.rows > max_neighbour_rows) return false
  return [0, 1].some((source) => computePartnerShare(joinRecordTexts(records, source)) < max_partner_share)
}

function computePartnerShare(texts: readonly string[]): number {
  if (texts.length === 0) return 0
  const { cosines } = findNearestNeighbours(buildTfidfVectors(texts, createTrigramTokeniser()), 1)
  return cosines.reduce((count, cosine) => count + (cosine >= min_same_text_cosine ? 1 : 0), 0) / texts.length
}

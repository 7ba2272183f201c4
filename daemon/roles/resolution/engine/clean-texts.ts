// Whether sources hold each thing once: then a record has one partner at most, and the best of its candidates is known to be rivals.
import { max_partner_share } from './cluster/clean-sources.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import { buildTfidfVectors, findNearestNeighbours, max_neighbour_rows } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

const min_same_text_cosine = 0.95

/** Two texts of one source are almost never the same: less than a tenth of the cleaner source have such a partner. */
export function areTextsClean(records: LensRecords): boolean {
  if (records.rows > max_neighbour_rows) return false
  return [0, 1].some((source) => computePartnerShare(joinRecordTexts(records, source)) < max_partner_share)
}

function computePartnerShare(texts: readonly string[]): number {
  if (texts.length === 0) return 0
  const { cosines } = findNearestNeighbours(buildTfidfVectors(texts, createTrigramTokeniser()), 1)
  return cosines.reduce((count, cosine) => count + (cosine >= min_same_text_cosine ? 1 : 0), 0) / texts.length
}

// Whether sources hold each thing once: then a record has one partner at most, and the best of its candidates is known to be rivals.
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { trigrams } from './text/parts.ts'
import { most_rows_for_neighbours, neighboursOf, vectorsOf } from './text/vectors.ts'

const alike = 0.95
const most_part = 0.1

/** Two texts of one source are almost never the same: less than a tenth of the cleaner source have such a partner. */
export function isClean(records: Records): boolean {
  if (records.rows > most_rows_for_neighbours) return false
  return [0, 1].some((source) => partWithPartner(textsOf(records, source)) < most_part)
}

function partWithPartner(texts: readonly string[]): number {
  if (texts.length === 0) return 0
  const { cosines } = neighboursOf(vectorsOf(texts, trigrams()), 1)
  return cosines.reduce((count, cosine) => count + (cosine >= alike ? 1 : 0), 0) / texts.length
}

// Clean sources list each entity once: a record has at most one match, in the other source.
import type { ComparedPairs } from '../compare/patterns.ts'
import { assignOneToOne } from './one-to-one.ts'

/** Log-odds above which two records of one source count as the same. */
const same_record_score = 2
/** Share of the records of a clean source that may have a partner within it. */
export const max_partner_share = 0.1

/**
 * Whether fewer than a tenth of the records of each of the two sources have a partner within it. One-to-one links leave the
 * duplicates within a source apart, so one clean source is not enough.
 */
export function areSourcesClean(
  sources: Int32Array,
  { lefts, rights, length }: ComparedPairs,
  scores: Float64Array,
): boolean {
  const hasPartner = new Uint8Array(sources.length)
  for (let pair = 0; pair < length; pair++) {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    if (scores[pair]! > same_record_score && sources[a] === sources[b]) hasPartner[a] = hasPartner[b] = 1
  }
  const records = [0, 0]
  const partnered = [0, 0]
  for (const [row, source] of sources.entries()) {
    records[source]!++
    partnered[source]! += hasPartner[row]!
  }
  return [0, 1].every((source) => partnered[source]! < max_partner_share * records[source]!)
}

/**
 * Assigns pairs across the sources above the cut, best first, each record once. Returns the indexes of the accepted pairs,
 * best first.
 */
export function assignAcrossSources(
  sources: Int32Array,
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  scores: Float64Array,
  cut = Number.NEGATIVE_INFINITY,
): Int32Array {
  const across: number[] = []
  for (let pair = 0; pair < length; pair++) {
    if (scores[pair]! > cut && sources[lefts[pair]!] !== sources[rights[pair]!]) across.push(pair)
  }
  const pairs = Int32Array.from(across)
  const candidates = {
    lefts: pairs.map((pair) => lefts[pair]!),
    rights: pairs.map((pair) => rights[pair]!),
    length: pairs.length,
  }
  const scoresAcross = Float64Array.from(pairs, (pair) => scores[pair]!)
  return assignOneToOne(sources.length, candidates, scoresAcross).map((link) => pairs[link]!)
}

/** Names the side of each row: its source or, in a single source, whose links may join any two records, the row itself. */
export function listSides(sources: Int32Array): Int32Array {
  return sources.every((source) => source === 0) ? Int32Array.from(sources, (_, row) => row) : sources
}

/** Links pairs across the sources above the cut. Returns the lowest row of each row's cluster. */
export function linkAcrossSources(
  sources: Int32Array,
  compared: ComparedPairs,
  scores: Float64Array,
  cut: number,
): Int32Array {
  const clusters = Int32Array.from(sources, (_, row) => row)
  for (const link of assignAcrossSources(sources, compared, scores, cut)) {
    const [a, b] = [compared.lefts[link]!, compared.rights[link]!]
    clusters[Math.max(a, b)] = Math.min(a, b)
  }
  return clusters
}

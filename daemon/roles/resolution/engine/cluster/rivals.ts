// The best other candidate of each link: a known non-match where a record has at most one match.
import type { ComparedPairs } from '../compare/patterns.ts'
import type { AlternativeLink } from '../score/null-threshold.ts'

export type RivalSearch = {
  readonly rows: number
  /** Whether a record seeks a match, so that its other candidates count. */
  readonly seeks: (row: number) => boolean
  /** Whether a pair can be a rival (default: every pair). */
  readonly isRival?: (pair: number) => boolean
}

export function findRivals(
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  scores: Float64Array,
  links: Int32Array,
  { rows, seeks, isRival = () => true }: RivalSearch,
): AlternativeLink[] {
  const linkOf = new Int32Array(rows).fill(-1)
  for (const link of links) linkOf[lefts[link]!] = linkOf[rights[link]!] = link
  const others = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
  for (let pair = 0; pair < length; pair++) {
    if (!isRival(pair)) continue
    for (const row of [lefts[pair]!, rights[pair]!]) {
      const link = linkOf[row]!
      if (link >= 0 && link !== pair && seeks(row)) others[link] = Math.max(others[link]!, scores[pair]!)
    }
  }
  return Array.from(links, (link) => ({ link: scores[link]!, other: others[link]! }))
}

/** Between two sources the records of the smaller one seek a match; within one source all do. */
export function createSeekerFilter(sources: Int32Array, isAcross: boolean): (row: number) => boolean {
  if (!isAcross) return () => true
  const firsts = sources.reduce((count, source) => count + (source === 0 ? 1 : 0), 0)
  const smaller = firsts * 2 <= sources.length ? 0 : 1
  return (row) => sources[row] === smaller
}

/** Joins the rows of accepted links: returns the lowest row of each row's cluster. */
export function joinLinks(
  rows: number,
  { lefts, rights }: Pick<ComparedPairs, 'lefts' | 'rights'>,
  links: Int32Array,
  isAccepted: (link: number) => boolean,
): Int32Array {
  const clusters = Int32Array.from({ length: rows }, (_, row) => row)
  for (const link of links) {
    const [a, b] = [lefts[link]!, rights[link]!]
    if (isAccepted(link)) clusters[Math.max(a, b)] = Math.min(a, b)
  }
  return clusters
}

// What a resolution leaves out at its limits: it is part of the result, so that nobody takes silence for completeness.

import type { LeftOut } from '../fields.ts'
import type { Lens } from '../lens/model.ts'
import type { Resolution } from './resolve.ts'
import { max_neighbour_rows } from './text/nearest-neighbours.ts'

/**
 * Reports the search for neighbours by text, whose time grows with the square of the records: above its limit, records of a lens
 * told by texts are only compared if they share a key, and two sources are not linked by their texts.
 */
export function listTextsLeftOut({ told_by, blocking }: Lens, rows: number): LeftOut[] {
  const isLeftOut = told_by === 'texts' && blocking === 'automatic' && rows > max_neighbour_rows
  return isLeftOut ? [{ what: 'text_neighbours', count: rows, limit: max_neighbour_rows }] : []
}

/** The pairs of a resolution that are matches. */
export type MatchChoice = { readonly pairs: readonly number[]; readonly left_out: LeftOut[] }

/**
 * Chooses linked pairs, and other pairs with a score above the floor. Of more than `limit`, it keeps linked pairs before others, and
 * the highest scores of each.
 */
export function chooseMatches(
  {
    compared: { lefts, rights, length },
    scores,
    clusters,
    floor,
  }: Pick<Resolution, 'compared' | 'scores' | 'clusters' | 'floor'>,
  limit: number,
): MatchChoice {
  const isLinked = (pair: number) => clusters[lefts[pair]!] === clusters[rights[pair]!]
  const isMatch = (pair: number) => isLinked(pair) || scores[pair]! > floor
  let [linked, others] = [0, 0]
  for (let pair = 0; pair < length; pair++) {
    if (isLinked(pair)) linked++
    else if (isMatch(pair)) others++
  }
  const count = linked + others - limit
  if (count <= 0) return { pairs: listPairs(length, isMatch), left_out: [] }
  const chosen = new Uint8Array(length)
  chooseBest(scores, chosen, Math.min(linked, limit), isLinked)
  chooseBest(scores, chosen, limit - Math.min(linked, limit), (pair) => !isLinked(pair) && isMatch(pair))
  return { pairs: listPairs(length, (pair) => chosen[pair] === 1), left_out: [{ what: 'matches', count, limit }] }
}

function listPairs(length: number, isMatch: (pair: number) => boolean): number[] {
  const pairs: number[] = []
  for (let pair = 0; pair < length; pair++) if (isMatch(pair)) pairs.push(pair)
  return pairs
}

/** Chooses the pairs with the highest scores; of equal scores the first pairs. */
function chooseBest(
  scores: Float64Array,
  chosen: Uint8Array,
  room: number,
  isCandidate: (pair: number) => boolean,
): void {
  if (room === 0) return
  const ranked = scores.filter((_, pair) => isCandidate(pair)).sort()
  const cut = ranked[Math.max(0, ranked.length - room)]!
  let equal = room - ranked.reduce((above, score) => above + (score > cut ? 1 : 0), 0)
  for (let pair = 0; pair < scores.length; pair++) {
    if (!isCandidate(pair)) continue
    const score = scores[pair]!
    if (score > cut || (score === cut && equal-- > 0)) chosen[pair] = 1
  }
}

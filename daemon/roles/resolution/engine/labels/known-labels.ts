// Labels of pairs with the evidence of each, and its place among the compared pairs of a result.
import { type ComparedPairs, PairList } from '../compare/patterns.ts'
import type { DetailedResolution } from '../resolve.ts'
import { computePairScores } from '../score/pair-scores.ts'
import type { LabelScale } from './label-scale.ts'
import type { LabelledEvidence } from './move-weights.ts'

/** Two records by their rows, and whether a person calls them one. */
export type LabelledRecords = { readonly a: number; readonly b: number; readonly isMatch: boolean }

/** `pair`: place among the compared pairs; -1 for a pair that the result does not compare. */
export type KnownLabel = LabelledRecords & LabelledEvidence & { readonly pair: number }

/**
 * Finds the evidence of labels, in their order; `patterns` are those that they refer to. Where scores are a likeness of
 * texts, a pair that was not compared has none, and is left out.
 */
export function findLabelEvidence(
  { comparer, compared, model, clusters, scale }: DetailedResolution,
  { evidence }: LabelScale,
  labels: readonly LabelledRecords[],
): { readonly patterns: ComparedPairs; readonly known: readonly KnownLabel[] } {
  const list = new PairList(comparer)
  for (const { a, b } of labels) list.add(Math.min(a, b), Math.max(a, b))
  const patterns = list.compared()
  const own = computePairScores(comparer, patterns, model)
  const pairs = findPairs(clusters.length, compared, labels)
  const known = labels.map((label, at) => {
    const pair = pairs[at]!
    return { ...label, pair, pattern: patterns.patternOf[at]!, evidence: pair < 0 ? own[at]! : evidence[pair]! }
  })
  return { patterns, known: scale === 'likeness' ? known.filter(({ pair }) => pair >= 0) : known }
}

/** Place of each labelled pair among the compared pairs; -1 if it is not one. */
export function findPairs(
  rows: number,
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  labels: readonly Pick<LabelledRecords, 'a' | 'b'>[],
): number[] {
  const keyOf = (one: number, other: number) => Math.min(one, other) * rows + Math.max(one, other)
  const wanted = new Map(labels.map(({ a, b }) => [keyOf(a, b), -1]))
  for (let pair = 0; pair < length; pair++) {
    const key = keyOf(lefts[pair]!, rights[pair]!)
    if (wanted.has(key)) wanted.set(key, pair)
  }
  return labels.map(({ a, b }) => wanted.get(keyOf(a, b)) ?? -1)
}

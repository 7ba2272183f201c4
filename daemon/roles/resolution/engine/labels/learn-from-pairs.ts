// Learns from labelled pairs together with all other pairs: starts at the result without labels, and keeps a result by labels
// only if labels that it has not seen prefer it.
import type { Lens } from '../../lens/model.ts'
import { type EngineProgressListener, reportPhaseStart } from '../progress.ts'
import type { LensRecords } from '../records/records.ts'
import { type DetailedResolution, resolveRecords } from '../resolve.ts'
import { type CutClusters, clusterMovedScores } from './cluster-moved-scores.ts'
import { findLabelEvidence, type KnownLabel, type LabelledRecords } from './known-labels.ts'
import {
  estimateByLabels,
  type LabelEstimates,
  measureByJackknife,
  type WeighedLabel,
  weighLabels,
} from './label-estimates.ts'
import { createLabelScale, type LensNumbers } from './label-scale.ts'
import { createStratumFinder, listDecisivePairs, stratum_count } from './label-strata.ts'
import { fitWeightShift } from './move-weights.ts'

/** The effect of labels on a result. */
export type LabelEffect = {
  readonly matches: number
  readonly non_matches: number
  /** Labels of pairs that can change the result; others only move weights. */
  readonly decisive: number
  /** Whether weights and cut follow the labels; otherwise they are those without labels. */
  readonly moved: boolean
  /** The class of which too few decisive labels are known for a result that follows them. */
  readonly lacking?: 'matches' | 'non_matches'
  /** Quality among the compared pairs as the labels show it, without them and with them; the latter from labels not seen. */
  readonly without: LabelEstimates
  readonly with: LabelEstimates
  /** Standard error of the difference of F1. */
  readonly f1_error: number
}

export type LabelledResult = {
  readonly resolution: DetailedResolution
  readonly numbers: LensNumbers
  readonly effect: LabelEffect
}

/** Parts into which labels are divided, each judged by what the others teach. */
const part_count = 5
/** With fewer labels, a part is too small to judge by. */
const min_labels = 10
/** With fewer labels of a class, nothing contradicts a result that joins all, or none. */
const min_class_labels = 3
/** Standard errors by which labels must prefer a less plausible cut to those before it. */
const min_preference_errors = 1

/** Learns from labels. Deterministic. Throws `LensFault`. */
export function learnFromPairs(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: readonly LabelledRecords[],
  report: EngineProgressListener,
): LabelledResult {
  const resolution = resolveRecords(lens, records, seed, report)
  const { comparer, compared, route } = resolution
  const scale = createLabelScale(lens, resolution)
  const { patterns, known } = findLabelEvidence(resolution, scale, labels)
  const learn = (chosen: readonly KnownLabel[]) => {
    reportPhaseStart(report, 'train')
    const moved = scale.move(fitWeightShift(comparer, patterns, scale.numbers.weights, chosen))
    return { moved, results: clusterMovedScores({ lens, records, route }, compared, moved.scores, report) }
  }
  const all = learn(known)
  const judged = divideLabels(weighDecisiveLabels(records, resolution, all.moved.scores, known))
  const trials = Array.from({ length: part_count }, (_, part) => {
    const held = new Set(judged.filter((label) => label.part === part).map(({ pair }) => pair))
    return learn(known.filter(({ pair }) => !held.has(pair))).results
  })
  const { best, ...preference } = comparePreference(judged, resolution.clusters, trials)
  const lacking = findLackingClass(judged)
  const isMoved = judged.length >= min_labels && !lacking && preference.isPreferred
  return {
    resolution,
    numbers: isMoved ? all.moved.toLensNumbers(all.results[best]!.cut) : scale.numbers,
    effect: {
      matches: labels.filter(({ isMatch }) => isMatch).length,
      non_matches: labels.filter(({ isMatch }) => !isMatch).length,
      decisive: judged.length,
      moved: isMoved,
      ...(lacking && { lacking }),
      without: preference.without,
      with: preference.with,
      f1_error: preference.error,
    },
  }
}

type JudgedLabel = KnownLabel & WeighedLabel & { readonly stratum: number; readonly part: number }

/** Weighs the labels of pairs that decide the present result, or the one that all labels make. */
function weighDecisiveLabels(
  records: LensRecords,
  resolution: DetailedResolution,
  moved: Float64Array,
  known: readonly KnownLabel[],
) {
  const decisive = new Set([
    ...listDecisivePairs(records, resolution),
    ...listDecisivePairs(records, { ...resolution, scores: moved }),
  ])
  const stratumOf = createStratumFinder(resolution)
  const counts = new Array<number>(stratum_count).fill(0)
  for (const pair of decisive) counts[stratumOf(pair)]!++
  const labels = known.filter(({ pair }) => decisive.has(pair))
  return weighLabels(
    counts,
    labels.map((label) => ({ ...label, stratum: stratumOf(label.pair) })),
  )
}

function findLackingClass(labels: readonly { readonly isMatch: boolean }[]): LabelEffect['lacking'] {
  const matches = labels.filter(({ isMatch }) => isMatch).length
  const nonMatches = labels.length - matches
  if (Math.min(matches, nonMatches) >= min_class_labels) return undefined
  return matches < nonMatches ? 'matches' : 'non_matches'
}

/** Divides labels into parts alike in strata and in matches. */
function divideLabels<T extends { readonly stratum: number; readonly isMatch: boolean }>(labels: readonly T[]) {
  const ordered = labels.toSorted((a, b) => a.stratum - b.stratum || Number(a.isMatch) - Number(b.isMatch))
  return ordered.map((label, at) => ({ ...label, part: at % part_count }))
}

/**
 * Compares the present clusters with those that labels make, of which each label judges one that it had no part in.
 * `best`: place of the cut that they prefer to those before it.
 */
function comparePreference(labels: readonly JudgedLabel[], present: Int32Array, trials: readonly CutClusters[][]) {
  const joins = (clusters: Int32Array, { a, b }: JudgedLabel) => clusters[a] === clusters[b]
  const isLinkedNow = labels.map((label) => joins(present, label))
  const linkedByCut = trials[0]!.map((_, cut) =>
    labels.map((label) => joins(trials[label.part]![cut]!.clusters, label)),
  )
  const estimate = (linked: readonly boolean[], without?: number) =>
    estimateByLabels(labels, (at) => linked[at]!, without)
  const prefer = (linked: readonly boolean[], over: readonly boolean[]) => {
    const gainOf = (without?: number) => estimate(linked, without).f1 - estimate(over, without).f1
    const { value: gain, error } = measureByJackknife(labels.length, gainOf)
    return { isPreferred: gain > min_preference_errors * error, error }
  }
  const best = linkedByCut.reduce((at, linked, cut) => (prefer(linked, linkedByCut[at]!).isPreferred ? cut : at), 0)
  const [without, followed] = [estimate(isLinkedNow), estimate(linkedByCut[best]!)]
  const { error } = prefer(linkedByCut[best]!, isLinkedNow)
  // Weights that follow the labels are the more probable ones before any test, so an equal chance of a gain suffices.
  return { best, error, isPreferred: followed.f1 > without.f1, without, with: followed }
}

// Estimates the quality of a result from labelled pairs, which stand for the pairs of their stratum.

/** A label, its stratum, and for how many pairs it stands. */
export type WeighedLabel = { readonly weight: number; readonly isMatch: boolean }

/**
 * Weighs labels: those of a stratum stand for all its pairs, since pairs of one stratum are drawn with equal probability.
 * `counts`: pairs of each stratum.
 */
export function weighLabels<T extends { readonly stratum: number; readonly isMatch: boolean }>(
  counts: readonly number[],
  labels: readonly T[],
): (T & WeighedLabel)[] {
  const labelled = counts.map(() => 0)
  for (const { stratum } of labels) labelled[stratum]!++
  return labels.map((label) => ({ ...label, weight: counts[label.stratum]! / labelled[label.stratum]! }))
}

export type LabelEstimates = { readonly precision: number; readonly recall: number; readonly f1: number }

/** Estimates precision, recall and F1 of links; 0 without links or matches. `without`: a label that does not count. */
export function estimateByLabels(
  labels: readonly WeighedLabel[],
  isLinked: (label: number) => boolean,
  without = -1,
): LabelEstimates {
  let [linked, matches, right] = [0, 0, 0]
  for (const [at, { weight, isMatch }] of labels.entries()) {
    if (at === without) continue
    if (isMatch) matches += weight
    if (!isLinked(at)) continue
    linked += weight
    if (isMatch) right += weight
  }
  return {
    precision: linked > 0 ? right / linked : 0,
    recall: matches > 0 ? right / matches : 0,
    f1: linked + matches > 0 ? (2 * right) / (linked + matches) : 0,
  }
}

/** A statistic of labels and its standard error, by the jackknife: the statistic without each label in turn. */
export function measureByJackknife(labels: number, statistic: (without?: number) => number) {
  const parts = Array.from({ length: labels }, (_, at) => statistic(at))
  const mean = parts.reduce((sum, part) => sum + part, 0) / Math.max(1, labels)
  const squares = parts.reduce((sum, part) => sum + (part - mean) ** 2, 0)
  return { value: statistic(), error: Math.sqrt((squares * (labels - 1)) / Math.max(1, labels)) }
}

// Charts of a lens on data: the weight of each level, the scores and their threshold, and the pairs of each blocking
// rule.
import { type BarChart, formatSigned, type LineChart } from './chart.ts'

export type LevelWeight = { readonly field: string; readonly level: string; readonly bits: number }

/** Charts the weight of each level in bits. */
export function buildWeightChart(title: string, levels: readonly LevelWeight[]): BarChart {
  return {
    title,
    measure: 'bits',
    bars: levels.map(({ field, level, bits }) => ({ group: field, name: level, to: bits, note: formatSigned(bits) })),
  }
}

const bin_count = 48

/**
 * Charts the number of pairs by score. `cut`: score from which a pair is a match. Heights are logarithms to base 10,
 * since most pairs are not matches. The highest and the lowest thousandth are drawn at the ends.
 */
export function buildScoreChart(title: string, label: string, scores: Float64Array, cut: number): LineChart {
  const sorted = scores.toSorted()
  const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const from = Math.min(quantile(0.001), cut)
  const to = Math.max(quantile(0.999), cut, from + 1e-6)
  const counts = new Array<number>(bin_count).fill(0)
  for (const score of scores) {
    const bin = Math.floor(((score - from) / (to - from)) * bin_count)
    const clamped = Math.max(0, Math.min(bin_count - 1, bin))
    counts[clamped] = (counts[clamped] ?? 0) + 1
  }
  const heights = counts.map((count) => Math.log10(1 + count))
  const points = heights.map((height, bin) => [from + ((to - from) * bin) / bin_count, height] as const)
  return {
    title,
    x: { label, from, to },
    y: { label: 'pairs, log10', from: 0, to: Math.max(1, Math.ceil(Math.max(...heights))) },
    series: [{ name: 'pairs', points: [...points, [to, heights.at(-1) ?? 0]], isSteps: true }],
    marks: [{ at: cut, label: 'cut' }],
  }
}

export type BlockingRuleCounts = {
  readonly rule: string
  readonly pairs: number
  readonly largest: number
  readonly left_out_count: number
}

/** Charts the pairs that each rule proposes by itself, before any pair is compared. */
export function buildBlockingChart(title: string, rules: readonly BlockingRuleCounts[]): BarChart {
  return {
    title,
    measure: 'pairs',
    bars: rules.map(({ rule, pairs, left_out_count }) => {
      const skipped = left_out_count > 0 ? `, ${left_out_count} blocks left out` : ''
      return { name: rule, to: pairs, note: `${pairs}${skipped}` }
    }),
  }
}

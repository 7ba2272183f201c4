// What a lens comes to on data, as charts: the worth of each level, where scores are cut, what blocking brings
// together.
import { type BarChart, formatSigned, type LineChart } from './chart.ts'

export type LevelWeight = { readonly field: string; readonly level: string; readonly bits: number }

/** Bits for and against, level by level. */
export function buildWeightChart(title: string, levels: readonly LevelWeight[]): BarChart {
  return {
    title,
    measure: 'bits',
    bars: levels.map(({ field, level, bits }) => ({ name: `${field}: ${level}`, to: bits, note: formatSigned(bits) })),
  }
}

const bin_count = 48

/**
 * How many pairs have which score; `cut`: from where on they are one. Heights are logarithms to base 10, since most
 * pairs are no match. The highest and the lowest thousandth are drawn at the ends.
 */
export function buildScoreChart(title: string, label: string, scores: Float64Array, cut: number): LineChart {
  const sorted = scores.toSorted()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const from = Math.min(at(0.001), cut)
  const to = Math.max(at(0.999), cut, from + 1e-6)
  const counts = new Array<number>(bin_count).fill(0)
  for (const score of scores) {
    const bin = Math.floor(((score - from) / (to - from)) * bin_count)
    const place = Math.max(0, Math.min(bin_count - 1, bin))
    counts[place] = (counts[place] ?? 0) + 1
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

/** Pairs that each rule brings together by itself, before any is compared. */
export function buildBlockingChart(title: string, rules: readonly BlockingRuleCounts[]): BarChart {
  return {
    title,
    measure: 'pairs',
    bars: rules.map(({ rule, pairs, left_out_count }) => {
      const left = left_out_count > 0 ? `, ${left_out_count} blocks left out` : ''
      return { name: rule, to: pairs, note: `${pairs}${left}` }
    }),
  }
}

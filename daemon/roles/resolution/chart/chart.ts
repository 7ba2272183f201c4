// Content of charts, independent of the renderer: bars beside names, or lines over a scale.

export type ChartBar = {
  readonly name: string
  /** Heading of this bar and of the following ones of the same group. */
  readonly group?: string
  /** Start of the bar; 0 by default. In a waterfall, a bar starts at the end of the bar before. */
  readonly from?: number
  readonly to: number
  /** Text behind the bar; its length by default. */
  readonly note?: string
}

/** Horizontal bars, one below the other. */
export type BarChart = { readonly title: string; readonly measure: string; readonly bars: readonly ChartBar[] }

export type ChartAxis = { readonly label: string; readonly from: number; readonly to: number }

export type ChartSeries = {
  readonly name: string
  /** Points from left to right. */
  readonly points: readonly (readonly [x: number, y: number])[]
  /** Whether a value holds until the next point; otherwise straight lines join the points. */
  readonly isSteps?: boolean
}

export type LineChart = {
  readonly title: string
  readonly x: ChartAxis
  readonly y: ChartAxis
  readonly series: readonly ChartSeries[]
  /** Vertical lines at labelled positions. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[]
}

/** Returns the left and the right end of a bar. */
export function computeBarExtent({ from = 0, to }: ChartBar): readonly [number, number] {
  return from < to ? [from, to] : [to, from]
}

/** Returns the range of all bars. It includes 0, and its ends differ. */
export function computeBarRange(bars: readonly ChartBar[]): readonly [number, number] {
  const values = [0, ...bars.flatMap((bar) => computeBarExtent(bar))]
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  return lowest === highest ? [lowest, lowest + 1] : [lowest, highest]
}

/** Formats with two decimals, and with a sign also for positive numbers. */
export function formatSigned(amount: number, decimals = 2): string {
  return `${amount < 0 ? '-' : '+'}${Math.abs(amount).toFixed(decimals)}`
}

/** Returns the value of a series at `x`; undefined beyond its ends, except for steps, whose last value holds. */
export function interpolateSeries({ points, isSteps = false }: ChartSeries, x: number): number | undefined {
  const next = points.findIndex(([at]) => at > x)
  const before = points[(next < 0 ? points.length : next) - 1]
  if (!before) return undefined
  const after = points[next]
  if (isSteps || before[0] === x) return before[1]
  if (!after) return undefined
  return before[1] + ((after[1] - before[1]) * (x - before[0])) / (after[0] - before[0])
}

// Says what a benchmark reports, so that scripts/bench can print every benchmark the same way.

/** One measured figure. A goal is an upper (`atMost`) or a lower (`atLeast`) limit, in the same unit. */
export type Figure = {
  readonly figure: string
  readonly value: number
  readonly unit: string
  /** The result of a peer in the same run, in the same unit. */
  readonly beside?: number
  readonly atMost?: number
  readonly atLeast?: number
}

/** The middle value; the mean of the two middle ones for an even count. Not defined for an empty list. */
export function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const pair = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return ((pair[0] ?? Number.NaN) + (pair[1] ?? Number.NaN)) / 2
}

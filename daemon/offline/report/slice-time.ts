// Divides a span of time into columns of a round width.
const steps_ms = [60_000, 300_000, 900_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000, 604_800_000, 2_592_000_000]
const max_columns = 60

export type TimeSlices = {
  /** Epoch milliseconds. */
  readonly start: number
  readonly step_ms: number
  readonly columns: number
}

/** Columns from the first to the last instant, as many as a chart can show. */
export function divideSpan(from: number, to: number): TimeSlices {
  if (!(to >= from)) return { start: 0, step_ms: steps_ms[0] ?? 1, columns: 0 }
  const longest = steps_ms.at(-1) ?? 1
  const step_ms =
    steps_ms.find((step) => (to - from) / step <= max_columns) ??
    Math.ceil((to - from) / longest / max_columns) * longest
  const start = Math.floor(from / step_ms) * step_ms
  return { start, step_ms, columns: Math.floor((to - start) / step_ms) + 1 }
}

/** The same for a list of instants, with the counts of some of them. */
export function sliceTime(instants: readonly number[]) {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const instant of instants) {
    from = Math.min(from, instant)
    to = Math.max(to, instant)
  }
  const slices = divideSpan(from, to)
  return {
    ...slices,
    countBy(isCounted: (at: number) => boolean): number[] {
      const counts = Array.from({ length: slices.columns }, () => 0)
      for (const [at, instant] of instants.entries()) {
        const column = Math.floor((instant - slices.start) / slices.step_ms)
        if (isCounted(at)) counts[column] = (counts[column] ?? 0) + 1
      }
      return counts
    },
  }
}

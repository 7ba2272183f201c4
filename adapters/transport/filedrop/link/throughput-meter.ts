// Measures messages per minute over the last minutes of the monotonic clock.

/** `count` only rises, but for a journal that was set back; `at` in milliseconds of that clock. */
export type ThroughputMeter = {
  record(count: number, at: number): void
  perMinute(count: number, at: number): number
}

const window_ms = 300_000
/** Closer samples would say nothing more. */
const min_sample_gap_ms = 5_000
/** Over less time than this one message looks like many. */
const min_span_ms = 1_000

export function throughputMeter(): ThroughputMeter {
  let samples: { readonly count: number; readonly at: number }[] = []
  return {
    record(count, at) {
      const last = samples.at(-1)
      if (last && count < last.count) samples = []
      if (last && samples.length > 0 && at - last.at < min_sample_gap_ms) return
      samples.push({ count, at })
      // One from before the window stays, so that the window is covered whole.
      while ((samples[1]?.at ?? at) <= at - window_ms) samples.shift()
    },
    perMinute(count, at) {
      const first = samples[0]
      if (!first || at - first.at < min_span_ms || count < first.count) return 0
      return ((count - first.count) * 60_000) / (at - first.at)
    },
  }
}

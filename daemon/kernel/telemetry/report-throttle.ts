// Limits how often a cause is reported, so that a caller cannot fill the log, and counts what was left out.

/**
 * Returns, for an occurrence to report, the number of occurrences since the last report of its cause, this one included;
 * undefined for one that is only counted. `cause`: one of few words, since each stays in memory. `now`: milliseconds.
 */
export function reportThrottle(now: () => number, interval_ms = 60_000): (cause: string) => number | undefined {
  const reports = new Map<string, { readonly at: number; left_out: number }>()
  return (cause) => {
    const last = reports.get(cause)
    if (last && now() - last.at < interval_ms) {
      last.left_out += 1
      return undefined
    }
    reports.set(cause, { at: now(), left_out: 0 })
    return (last?.left_out ?? 0) + 1
  }
}

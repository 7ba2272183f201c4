// Limits how often a cause is reported, so that a caller cannot fill the log, and counts what was left out.

/** The number of occurrences that a report of this cause stands for; undefined: no report now. */
export type ReportThrottle = (cause: string) => number | undefined

/**
 * Returns, for an occurrence to report, the number of occurrences since the last report of its cause, this one included;
 * undefined for one that is only counted. `cause`: one of few words, since each stays in memory. `now`: milliseconds.
 */
export function reportThrottle(now: () => number, interval_ms = 60_000): ReportThrottle {
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

/**
 * The cause of a thrown error: its class, its code and the place in the code. Its message is not part of it, since callers can
 * change what it quotes.
 */
export function findFailureCause(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = '' } = error
  const [, place = ''] = stack.slice(stack.indexOf(message) + message.length).split('\n')
  const { code } = error as { code?: unknown }
  return [name, ...(typeof code === 'string' ? [code] : []), place.trim()].join(' ')
}

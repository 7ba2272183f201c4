// A time limit that can be ended: the signal of a timeout, with all that listens to it, would stay in memory until then.

export type TimeLimit = { readonly signal: AbortSignal; end(): void }

/** `reason`: of the abort. */
export function startTimeLimit(limit_ms: number, reason?: () => unknown): TimeLimit {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(reason?.()), limit_ms).unref()
  return { signal: late.signal, end: () => clearTimeout(timer) }
}

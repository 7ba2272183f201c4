// The next poll of each source: by its interval or schedule, with back-off after failures.

const max_backoff_ms = 3_600_000

export class PollSchedule {
  readonly #next = new Map<string, { readonly at: number; readonly failures: number }>()

  isPlanned(name: string): boolean {
    return this.#next.has(name)
  }

  /** `first`: time of the first poll, in epoch milliseconds. */
  plan(name: string, first: number): void {
    this.#next.set(name, { at: first, failures: 0 })
  }

  isDue(name: string, now: number): boolean {
    return now >= (this.#next.get(name)?.at ?? Number.POSITIVE_INFINITY)
  }

  recordSuccess(name: string, next: number): void {
    this.#next.set(name, { at: next, failures: 0 })
  }

  /** Twice as long each time, from `wait_ms` to an hour. */
  recordFailure(name: string, wait_ms: number, now: number): void {
    const failures = (this.#next.get(name)?.failures ?? 0) + 1
    this.#next.set(name, { at: now + computeBackoff(wait_ms, failures), failures })
  }
}

/** Never shorter than the interval itself, however long that is. */
function computeBackoff(wait_ms: number, failures: number): number {
  return Math.max(wait_ms, Math.min(wait_ms * 2 ** Math.min(failures - 1, 20), max_backoff_ms))
}

// The next poll of each source: by its interval or schedule, with back-off after failures.

const max_backoff_ms = 3_600_000

/** `planned_ts`: the clock when the poll was planned. Both times are epoch milliseconds. */
type PlannedPoll = { readonly at: number; readonly failures: number; readonly planned_ts: number }

export class PollSchedule {
  readonly #next = new Map<string, PlannedPoll>()

  /** False also where the clock was put back since: a poll that was planned years ahead would otherwise stop its source for years. */
  isPlanned(name: string, now: number): boolean {
    return now >= (this.#next.get(name)?.planned_ts ?? Number.POSITIVE_INFINITY)
  }

  /** `first`: time of the first poll, in epoch milliseconds. */
  plan(name: string, first: number, now: number): void {
    this.#next.set(name, { at: first, failures: 0, planned_ts: now })
  }

  isDue(name: string, now: number): boolean {
    return now >= (this.#next.get(name)?.at ?? Number.POSITIVE_INFINITY)
  }

  /** Twice as long each time, from `wait_ms` to an hour. */
  recordFailure(name: string, wait_ms: number, now: number): void {
    const failures = (this.#next.get(name)?.failures ?? 0) + 1
    this.#next.set(name, { at: now + computeBackoff(wait_ms, failures), failures, planned_ts: now })
  }
}

/** Never shorter than the interval itself, however long that is. */
function computeBackoff(wait_ms: number, failures: number): number {
  return Math.max(wait_ms, Math.min(wait_ms * 2 ** Math.min(failures - 1, 20), max_backoff_ms))
}

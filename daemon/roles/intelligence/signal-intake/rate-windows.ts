// How much a source may send, and how much of what is no delivery of it is looked at: so many in a minute.

const window_ms = 60_000

/** A clock that is wrong or a secret that was changed at one end fails a few times; more than that tells nobody anything. */
export const max_failures = 30

export class RateWindows {
  readonly #windows = new Map<string, { readonly since: number; count: number }>()

  /** Counts one more at `now` (milliseconds of a clock that never jumps); seconds to wait when that is too many, else 0. */
  countRequest(name: string, max_count: number, now: number): number {
    const before = this.#windows.get(name)
    const window = before && now - before.since < window_ms ? before : { since: now, count: 0 }
    window.count += 1
    this.#windows.set(name, window)
    return window.count > max_count ? Math.ceil((window.since + window_ms - now) / 1_000) : 0
  }
}

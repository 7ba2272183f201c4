// Rate limits per minute: valid deliveries of a source, and invalid ones.

const window_ms = 60_000

/** Invalid deliveries per minute that are recorded: enough to notice a wrong clock or secret. */
export const max_failures = 30

export class RateWindows {
  readonly #windows = new Map<string, { readonly since: number; count: number }>()

  /**
   * Counts one more at `now` (milliseconds of a monotonic clock). Returns the seconds to wait when the limit is
   * exceeded, else 0.
   */
  countRequest(name: string, max_count: number, now: number): number {
    const before = this.#windows.get(name)
    const window = before && now - before.since < window_ms ? before : { since: now, count: 0 }
    window.count += 1
    this.#windows.set(name, window)
    return window.count > max_count ? Math.ceil((window.since + window_ms - now) / 1_000) : 0
  }
}

// Spares a party that fails the next requests, and the requesters the wait for it: one of them tries it again after a while.
// Source of the pattern: M. Nygard, "Release It!" (2007), circuit breaker.

/** Failures in a row that open it. */
const opening_failures = 5
/** How long it stays open at first, and at most after repeated failures. */
const first_open_ms = 5_000
const max_open_ms = 60_000

export class CircuitBreaker {
  readonly #now: () => number
  #failures = 0
  #open_ms = first_open_ms
  /** When the next attempt is due; undefined while closed. */
  #retry_ms: number | undefined
  #isTrying = false

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Until an attempt succeeds. */
  get isOpen(): boolean {
    return this.#retry_ms !== undefined
  }

  /**
   * Milliseconds until a request may be made; undefined: now. Each admitted request ends with `succeed`, `fail` or `leave`.
   */
  admit(): number | undefined {
    if (this.#retry_ms === undefined) return undefined
    const wait_ms = this.#retry_ms - this.#now()
    if (wait_ms > 0) return wait_ms
    if (this.#isTrying) return first_open_ms
    this.#isTrying = true
    return undefined
  }

  succeed(): void {
    this.#failures = 0
    this.#open_ms = first_open_ms
    this.#retry_ms = undefined
    this.#isTrying = false
  }

  fail(): void {
    this.#failures += 1
    const wasTrying = this.#isTrying
    this.#isTrying = false
    if (this.#failures < opening_failures) return
    // Requests that were under way when it opened say nothing new.
    if (this.#retry_ms !== undefined && !wasTrying) return
    if (wasTrying) this.#open_ms = Math.min(max_open_ms, this.#open_ms * 2)
    this.#retry_ms = this.#now() + this.#open_ms
  }

  /** The request ended without a verdict, such as by its caller. */
  leave(): void {
    this.#isTrying = false
  }
}

// Counts the requests under way of each holder: of a client address, or of a caller.

export class ExchangeShares {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** False: the holder has as many as it may have. */
  take(holder: string): boolean {
    const count = this.#counts.get(holder) ?? 0
    if (count >= this.#most) return false
    this.#counts.set(holder, count + 1)
    return true
  }

  /** Once for each `take` that was true. */
  release(holder: string): void {
    const count = (this.#counts.get(holder) ?? 0) - 1
    if (count > 0) this.#counts.set(holder, count)
    else this.#counts.delete(holder)
  }
}

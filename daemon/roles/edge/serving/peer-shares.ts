// Counts the requests under way of each client address.

export class PeerShares {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** False: the address has as many as it may have. */
  take(address: string): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#most) return false
    this.#counts.set(address, count + 1)
    return true
  }

  /** Once for each `take` that was true. */
  release(address: string): void {
    const count = (this.#counts.get(address) ?? 0) - 1
    if (count > 0) this.#counts.set(address, count)
    else this.#counts.delete(address)
  }
}

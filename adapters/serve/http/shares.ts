// Shares of something that a listener has little of: requests, streams, memory for bodies and for answers.

/** `name` is unique: a pool, or the part `of` one caller or address. */
export type Share = { readonly name: string; readonly most: number; readonly of?: 'caller' | 'address' }

export class ShareLedger {
  readonly #taken = new Map<string, number>()

  /**
   * Takes the amount from each share, or from none; then returns the first that has too little left. An amount that is larger
   * than a share is granted while nothing else is taken from it.
   */
  take(shares: readonly Share[], amount: number): Share | undefined {
    const full = shares.find(({ name, most }) => {
      const taken = this.#taken.get(name) ?? 0
      return taken > 0 && taken + amount > most
    })
    if (!full) this.takeAnyway(shares, amount)
    return full
  }

  /** Takes more than the shares allow, if need be: for what exists already. */
  takeAnyway(shares: readonly Share[], amount: number): void {
    for (const { name } of shares) this.#taken.set(name, (this.#taken.get(name) ?? 0) + amount)
  }

  give(shares: readonly Share[], amount: number): void {
    for (const { name } of shares) {
      const rest = (this.#taken.get(name) ?? 0) - amount
      if (rest > 0) this.#taken.set(name, rest)
      else this.#taken.delete(name)
    }
  }

  /** The first share of which nothing is left. */
  findFull(shares: readonly Share[]): Share | undefined {
    return shares.find(({ name, most }) => (this.#taken.get(name) ?? 0) >= most)
  }
}

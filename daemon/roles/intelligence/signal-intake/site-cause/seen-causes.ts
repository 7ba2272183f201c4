// The keys that were seen last, in memory: so many, then the oldest are forgotten, which costs a look into the store.

export class SeenCauses {
  /** The newest item of quarantine, in epoch milliseconds. */
  newest_quarantine_ms: number | undefined
  readonly #max_keys: number
  readonly #keys = new Set<string>()

  constructor(max_keys: number) {
    this.#max_keys = max_keys
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > this.#max_keys && oldest !== undefined) this.#keys.delete(oldest)
  }
}

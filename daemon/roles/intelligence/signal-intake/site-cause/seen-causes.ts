// Recently seen keys, in memory and bounded: a forgotten key costs a read of the store.

export class SeenCauses {
  /** Time of the newest quarantined item, in epoch milliseconds. */
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

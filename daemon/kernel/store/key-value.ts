// Small short-lived values shared by all processes of a site: counters, locks, recently seen ids.

/** `left_ms`: remaining life of the count, which begins with its first increment. */
export type CounterValue = { readonly count: number; readonly left_ms: number }

/**
 * Values expire, and all of them may be lost with the server: data that must last belongs in the store. Each method
 * is atomic. Throws `Refusal('unavailable')` when the server does not answer in time; the change may or may not have
 * been made.
 */
export interface KeyValue {
  readonly name: 'memory' | 'redis'
  get(key: string): Promise<string | undefined>
  /**
   * Replaces `from` by `to`, which lives for `life_ms`; false when another value is stored. `undefined` means no
   * value: as `from` it creates the value, as `to` it removes it.
   */
  swap(key: string, from: string | undefined, to: string | undefined, life_ms: number): Promise<boolean>
  /** Adds `by` (0: only reads) to a count, which lives for `life_ms` from its first increment. */
  increment(key: string, by: number, life_ms: number): Promise<CounterValue>
  health(): Promise<{ ok: boolean; detail: string }>
  close(): Promise<void>
}

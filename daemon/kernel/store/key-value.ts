// Small values that all processes of a site share for a while: counters, locks, what was seen a moment ago.

/** `left_ms`: how long the count lives on, from its first increment. */
export type CounterValue = { readonly count: number; readonly left_ms: number }

/**
 * Nothing lives here for ever, and all of it may be lost with the server: data that must last belongs in the store. Each method is
 * one atomic step. Throws `Refusal('unavailable')` when the server does not answer in time: a change may have been made
 * then, or not.
 */
export interface KeyValue {
  readonly name: 'memory' | 'redis'
  get(key: string): Promise<string | undefined>
  /**
   * Puts `to` in the place of `from`, to live for so long; false when another value is there. `undefined` is not a value: it
   * makes, or removes.
   */
  swap(key: string, from: string | undefined, to: string | undefined, life_ms: number): Promise<boolean>
  /**
   * Adds `by` (0: only looks) to a count, which lives for `life_ms` from when it was first asked for, however often it is
   * added to.
   */
  increment(key: string, by: number, life_ms: number): Promise<CounterValue>
  health(): Promise<{ ok: boolean; detail: string }>
  close(): Promise<void>
}

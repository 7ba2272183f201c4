// Remembers the earlier events of traces and conversations that graphs need: bounded, and read again from the store where it is missing.
import { memoryKey } from './plan.ts'
import type { GraphScope } from './rules.ts'

/** A tool that was used in a trace, as its node in the outcome graph. */
export type TraceMemory = {
  intent: string
  /** Decision points of tools that were used, for feedback on the trace. */
  decisions: string[]
  outcome: 'success' | 'error' | undefined
}

/** The last turn of a conversation: the state that the next one is compared with. */
export type ConversationMemory = {
  intent: string
  shape: string | undefined
  /** Turns with the same intent in a row, from 1 on. */
  iteration: number
  state_id: string | undefined
}

const max_remembered = 20_000
export const max_decisions = 16

type RememberedEntry<T> = { readonly value: T; used_ts: number }

/** The oldest entry goes first; one that is used becomes the newest. */
export class BoundedMemory<T> {
  readonly #max: number
  readonly #entries = new Map<string, RememberedEntry<T>>()
  #complete_ts = Number.NEGATIVE_INFINITY

  constructor(max = max_remembered) {
    this.#max = max
  }

  /** Whatever began after this time and is not in the memory has had no event. */
  get complete_ts(): number {
    return this.#complete_ts
  }

  get size(): number {
    return this.#entries.size
  }

  has(scope: GraphScope, id: string): boolean {
    return this.#entries.has(memoryKey(scope, id))
  }

  /** The entry, which is made where it is missing. `at`: when this process accepted the event that uses it. */
  open(scope: GraphScope, id: string, at: number, make: () => T): T {
    const key = memoryKey(scope, id)
    const entry = this.#entries.get(key) ?? { value: make(), used_ts: at }
    entry.used_ts = Math.max(entry.used_ts, at)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > this.#max) this.#forgetOldest()
    return entry.value
  }

  find(scope: GraphScope, id: string): T | undefined {
    return this.#entries.get(memoryKey(scope, id))?.value
  }

  /** Forgets everything. `at`: by now, other processes may have stored events that never were in the memory. */
  clear(at: number): void {
    this.#entries.clear()
    this.#complete_ts = Math.max(this.#complete_ts, at)
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries
    if (!oldest) return
    const [key, { used_ts }] = oldest
    this.#entries.delete(key)
    this.#complete_ts = Math.max(this.#complete_ts, used_ts)
  }
}

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

/** The oldest entry goes first; one that is used becomes the newest. */
export class BoundedMemory<T> {
  readonly #entries = new Map<string, T>()

  has(scope: GraphScope, id: string): boolean {
    return this.#entries.has(memoryKey(scope, id))
  }

  /** The entry, which is made where it is missing. */
  open(scope: GraphScope, id: string, make: () => T): T {
    const key = memoryKey(scope, id)
    const entry = this.#entries.get(key) ?? make()
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > max_remembered) {
      const [oldest = key] = this.#entries.keys()
      this.#entries.delete(oldest)
    }
    return entry
  }

  find(scope: GraphScope, id: string): T | undefined {
    return this.#entries.get(memoryKey(scope, id))
  }

  forget(scope: GraphScope, id: string): void {
    this.#entries.delete(memoryKey(scope, id))
  }

  clear(): void {
    this.#entries.clear()
  }
}

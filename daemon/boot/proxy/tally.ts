// Counts requests by source: all of one turn of the event loop in one step for each source, and each gets its own place.
import type { KeyValue } from '../../kernel/keyvalue.ts'

/** `place`: the how-manieth request of the window it is, from 1. `left_ms`: until the window ends. */
export type Place = { readonly place: number; readonly left_ms: number }

type Waiting = { readonly done: (place: Place) => void; readonly failed: (error: unknown) => void }

/** `increment`: one atomic step of the store of counters. Its failure is the failure of all who were counted in it. */
export class Tally {
  readonly #increment: KeyValue['increment']
  readonly #window_ms: number
  #turn = new Map<string, Waiting[]>()

  constructor(increment: KeyValue['increment'], window_ms: number) {
    this.#increment = increment
    this.#window_ms = window_ms
  }

  /** In the order of the calls. Rejects when it could not be counted, or nobody knows whether it was. */
  placeOf(key: string): Promise<Place> {
    return new Promise((done, failed) => {
      if (this.#turn.size === 0) setImmediate(() => this.#flush())
      const waiting = this.#turn.get(key)
      if (waiting) waiting.push({ done, failed })
      else this.#turn.set(key, [{ done, failed }])
    })
  }

  #flush(): void {
    const turn = this.#turn
    this.#turn = new Map()
    for (const [key, waiting] of turn) void this.#count(key, waiting)
  }

  async #count(key: string, waiting: readonly Waiting[]): Promise<void> {
    try {
      const { count, left_ms } = await this.#increment(key, waiting.length, this.#window_ms)
      const first = count - waiting.length + 1
      for (const [at, { done }] of waiting.entries()) done({ place: first + at, left_ms })
    } catch (error) {
      for (const { failed } of waiting) failed(error)
    }
  }
}

// Counts requests by source: all of one turn of the event loop in one step for each source, and each gets its own place.
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'

/** `place`: the how-manieth request of the window it is, from 1. `left_ms`: until the window ends. */
export type WindowPosition = { readonly position: number; readonly left_ms: number }

/** Undefined: it could not be counted, or nobody knows whether it was. Must not throw. */
export type WindowPositionCallback = (place: WindowPosition | undefined) => void

/** `increment`: one atomic step of the store of counters. Its failure is the failure of all who were counted in it. */
export class WindowCounter {
  readonly #increment: KeyValue['increment']
  readonly #window_ms: number
  readonly #schedule: (task: () => void) => void
  #turn = new Map<string, WindowPositionCallback[]>()

  /** `schedule` runs the task at the end of this turn of the event loop, as `setImmediate` does. */
  constructor(increment: KeyValue['increment'], window_ms: number, schedule: (task: () => void) => void) {
    this.#increment = increment
    this.#window_ms = window_ms
    this.#schedule = schedule
  }

  /** In the order of the calls, and never before this returns. A function and no promise: each request comes by here. */
  count(key: string, done: WindowPositionCallback): void {
    if (this.#turn.size === 0) this.#schedule(() => this.#flush())
    const waiting = this.#turn.get(key)
    if (waiting) waiting.push(done)
    else this.#turn.set(key, [done])
  }

  #flush(): void {
    const turn = this.#turn
    this.#turn = new Map()
    for (const [key, waiting] of turn) {
      try {
        this.#increment(key, waiting.length, this.#window_ms).then(
          (count) => reportPositions(waiting, count),
          () => reportPositions(waiting, undefined),
        )
      } catch {
        reportPositions(waiting, undefined)
      }
    }
  }
}

function reportPositions(waiting: readonly WindowPositionCallback[], found: CounterValue | undefined): void {
  const first = (found?.count ?? 0) - waiting.length + 1
  for (const [at, placed] of waiting.entries()) placed(found && { position: first + at, left_ms: found.left_ms })
}

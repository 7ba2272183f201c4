// Counts requests by key: one increment for each key and turn of the event loop, and a position in the window for each request.
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'

/** `position`: 1-based position of the request in the window. `left_ms`: milliseconds until the window ends. */
export type WindowPosition = { readonly position: number; readonly left_ms: number }

/** Undefined: the request could not be counted, or the result is unknown. Must not throw. */
export type WindowPositionCallback = (position: WindowPosition | undefined) => void

/** `increment`: one atomic increment in the store of counters. When it fails, all requests that it counted fail. */
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

  /** Calls back in the order of the calls, and never before this returns. A callback, since a promise for each request costs more. */
  count(key: string, callback: WindowPositionCallback): void {
    if (this.#turn.size === 0) this.#schedule(() => this.#flush())
    const waiting = this.#turn.get(key)
    if (waiting) waiting.push(callback)
    else this.#turn.set(key, [callback])
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

function reportPositions(waiting: readonly WindowPositionCallback[], counter: CounterValue | undefined): void {
  const first = (counter?.count ?? 0) - waiting.length + 1
  for (const [at, callback] of waiting.entries())
    callback(counter && { position: first + at, left_ms: counter.left_ms })
}

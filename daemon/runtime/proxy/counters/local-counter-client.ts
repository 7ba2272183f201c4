// Increments the counters of the main thread from a serving thread: one message for each turn of the event loop.
import { Refusal } from '../../../kernel/error/errors.ts'
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'
import type { CounterIncrement } from '../threads/thread-messages.ts'

type PendingIncrement = { readonly done: (count: CounterValue) => void; readonly failed: (error: unknown) => void }

/** The time limit of a key-value server. */
const timeout_ms = 2_000

export class LocalCounterClient {
  readonly #send: (id: number, steps: readonly CounterIncrement[]) => void
  #id = 0
  #steps: CounterIncrement[] = []
  #pending: PendingIncrement[] = []
  readonly #waiting = new Map<
    number,
    { readonly increments: readonly PendingIncrement[]; readonly timer: NodeJS.Timeout }
  >()

  constructor(send: (id: number, steps: readonly CounterIncrement[]) => void) {
    this.#send = send
  }

  readonly increment: KeyValue['increment'] = (key, by, life_ms) =>
    new Promise((done, failed) => {
      if (this.#steps.length === 0) queueMicrotask(() => this.#flush())
      this.#steps.push([key, by, life_ms])
      this.#pending.push({ done, failed })
    })

  /** Receives the answer of the main thread, in the order of the increments. */
  resolveCounts(id: number, counts: readonly (CounterValue | undefined)[]): void {
    const request = this.#waiting.get(id)
    if (!request) return
    this.#waiting.delete(id)
    clearTimeout(request.timer)
    for (const [index, { done, failed }] of request.increments.entries()) {
      const count = counts[index]
      if (count) done(count)
      else failed(unavailableError())
    }
  }

  #flush(): void {
    const [steps, increments] = [this.#steps, this.#pending]
    this.#steps = []
    this.#pending = []
    this.#id += 1
    const id = this.#id
    const timer = setTimeout(() => this.resolveCounts(id, []), timeout_ms)
    this.#waiting.set(id, { increments, timer })
    this.#send(id, steps)
  }
}

function unavailableError(): Refusal {
  return new Refusal('unavailable', 'the counters do not answer', [], 1)
}

// The counters of a machine without a key-value server, from a thread: they are in the main thread, asked once a turn.
import { Refused } from '../../kernel/errors.ts'
import type { Count, KeyValue } from '../../kernel/keyvalue.ts'
import type { CountStep } from './messages.ts'

type Asked = { readonly done: (count: Count) => void; readonly failed: (error: unknown) => void }

/** As patient as with a server. */
const patience_ms = 2_000

export class FarCounter {
  readonly #send: (id: number, steps: readonly CountStep[]) => void
  #id = 0
  #steps: CountStep[] = []
  #asked: Asked[] = []
  readonly #waiting = new Map<number, { readonly asked: readonly Asked[]; readonly timer: NodeJS.Timeout }>()

  constructor(send: (id: number, steps: readonly CountStep[]) => void) {
    this.#send = send
  }

  readonly increment: KeyValue['increment'] = (key, by, life_ms) =>
    new Promise((done, failed) => {
      if (this.#steps.length === 0) queueMicrotask(() => this.#ask())
      this.#steps.push([key, by, life_ms])
      this.#asked.push({ done, failed })
    })

  /** What the main thread answers, in the order of the steps. */
  answer(id: number, counts: readonly (Count | undefined)[]): void {
    const found = this.#waiting.get(id)
    if (!found) return
    this.#waiting.delete(id)
    clearTimeout(found.timer)
    for (const [at, { done, failed }] of found.asked.entries()) {
      const count = counts[at]
      if (count) done(count)
      else failed(away())
    }
  }

  #ask(): void {
    const [steps, asked] = [this.#steps, this.#asked]
    this.#steps = []
    this.#asked = []
    this.#id += 1
    const id = this.#id
    const timer = setTimeout(() => this.answer(id, []), patience_ms)
    this.#waiting.set(id, { asked, timer })
    this.#send(id, steps)
  }
}

function away(): Refused {
  return new Refused('unavailable', 'the counters do not answer', [], 1)
}

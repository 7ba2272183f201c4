// Requests that wait together go as one: a hundred writes at once cost the cluster one sync instead of a hundred.
import { ClusterFailure } from './failure.ts'

type Waiting<Q, A> = {
  readonly item: Q
  readonly size: number
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/** Bounds of one request, and of those under way at a time. */
const max_items = 500
const max_size = 8_000_000
const max_requests = 4

/** `send` answers each item in its place, or throws for all of them. `size`: of an item, in bytes or so. */
export class Batch<Q, A> {
  readonly #send: (items: readonly Q[]) => Promise<readonly A[]>
  #waiting: Waiting<Q, A>[] = []
  #underWay = 0
  #isScheduled = false

  constructor(send: (items: readonly Q[]) => Promise<readonly A[]>) {
    this.#send = send
  }

  ask(item: Q, size: number): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // What the same turn of the event loop asks for goes along.
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#underWay < max_requests && this.#waiting.length > 0) void this.#sendSome()
    })
  }

  async #sendSome(): Promise<void> {
    const batch = this.#next()
    this.#underWay += 1
    try {
      const answers = await this.#send(batch.map(({ item }) => item))
      if (answers.length !== batch.length) throw new ClusterFailure('unknown', 'an answer of another length')
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as A)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#underWay -= 1
    if (this.#waiting.length > 0) this.#schedule()
  }

  #next(): Waiting<Q, A>[] {
    let size = 0
    let count = 0
    for (const each of this.#waiting) {
      size += each.size
      if (count > 0 && (size > max_size || count === max_items)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }
}

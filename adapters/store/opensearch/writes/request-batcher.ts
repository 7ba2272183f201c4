// Requests that wait together go as one: a hundred writes at once cost the cluster one sync instead of a hundred.
import { ClusterFailure } from '../cluster/cluster-failure.ts'
import { countFitting, isTooLarge, max_request_bytes, max_request_items, splitInHalf } from './request-size.ts'

type QueuedRequest<Q, A> = {
  readonly item: Q
  readonly size: number
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/** Requests under way at a time. */
const max_requests = 4

/** `send` answers each item in its place, or throws for all of them. `size`: of an item, in bytes. */
export class RequestBatcher<Q, A> {
  readonly #send: (items: readonly Q[]) => Promise<readonly A[]>
  #waiting: QueuedRequest<Q, A>[] = []
  #active_requests = 0
  #isScheduled = false
  /** Less than at first, once the cluster has refused so much. */
  #max_bytes = max_request_bytes

  constructor(send: (items: readonly Q[]) => Promise<readonly A[]>) {
    this.#send = send
  }

  add(item: Q, size: number): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Requests of the same turn of the event loop join the batch.
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#active_requests < max_requests && this.#waiting.length > 0) void this.#sendSome()
    })
  }

  async #sendSome(): Promise<void> {
    const sizes = this.#waiting.slice(0, max_request_items).map(({ size }) => size)
    const batch = this.#waiting.splice(0, countFitting(sizes, this.#max_bytes))
    this.#active_requests += 1
    await this.#deliver(batch)
    this.#active_requests -= 1
    if (this.#waiting.length > 0) this.#schedule()
  }

  /** A batch that is too large is split in halves, until only requests that are too large alone are refused. */
  async #deliver(batch: readonly QueuedRequest<Q, A>[]): Promise<void> {
    try {
      const answers = await this.#send(batch.map(({ item }) => item))
      if (answers.length !== batch.length)
        throw new ClusterFailure('unknown', 'the answer has another number of items than the request')
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as A)
    } catch (error) {
      if (batch.length === 1 || !isTooLarge(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const sum = batch.reduce((bytes, { size }) => bytes + size, 0)
      this.#max_bytes = Math.min(this.#max_bytes, Math.ceil(sum / 2))
      for (const half of splitInHalf(batch)) await this.#deliver(half)
    }
  }
}

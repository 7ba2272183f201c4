// How much a server may write: the size of one answer for each request that it has, and as much again in each minute.
import { refuse } from '../../../daemon/kernel/error/errors.ts'

const window_ms = 60_000
/** A message costs work however short it is. */
const message_bytes = 256

export class OutputAllowance {
  readonly #answer_bytes: number
  readonly #now: () => number
  #began_ms: number
  #used_bytes = 0
  readonly #requests = new Set<unknown>()
  received_bytes = 0

  /** `now`: milliseconds that never go back. */
  constructor(answer_bytes: number, now: () => number) {
    this.#answer_bytes = answer_bytes
    this.#now = now
    this.#began_ms = now()
  }

  addRequest(id: unknown): void {
    this.#requests.add(id)
  }

  /** Its answer has come: what that used is not held against the other requests. */
  endRequest(id: unknown): void {
    if (this.#requests.delete(id)) this.#used_bytes = 0
  }

  /** Nobody waits for its answer any more. */
  cancelRequest(id: unknown): void {
    this.#requests.delete(id)
  }

  /** Throws `Refusal` once the allowance is used up. */
  takeBytes(bytes: number): void {
    this.received_bytes += bytes
    this.#use(bytes)
  }

  takeMessage(): void {
    this.#use(message_bytes)
  }

  #use(bytes: number): void {
    const now = this.#now()
    if (now - this.#began_ms >= window_ms) {
      this.#began_ms = now
      this.#used_bytes = 0
    }
    this.#used_bytes += bytes
    const allowed = this.#answer_bytes * (this.#requests.size + 1) * 2
    if (this.#used_bytes > allowed)
      throw refuse(
        'unavailable',
        `the server has written more than ${allowed} bytes for ${this.#requests.size} requests`,
      )
  }
}

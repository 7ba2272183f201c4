// Attachments whose lineage is not stored yet: a bounded queue, so that no response or call waits for the store.
import { type Attachment, countEvents } from './rules.ts'

export class LineageQueue {
  #waiting: Attachment[] = []
  readonly #max_attachments: number

  constructor(max_attachments: number) {
    this.#max_attachments = max_attachments
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Returns the number of events that are lost, since the queue is full. */
  add(attachment: Attachment): number {
    if (this.#waiting.length >= this.#max_attachments) return countEvents(attachment)
    this.#waiting.push(attachment)
    return 0
  }

  take(max_attachments: number): readonly Attachment[] {
    const taken = this.#waiting.slice(0, max_attachments)
    this.#waiting = this.#waiting.slice(taken.length)
    return taken
  }
}

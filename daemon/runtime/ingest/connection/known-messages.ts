// Messages that have landed and may be delivered again, since it is not known that the queue has removed them.
import { createHash } from 'node:crypto'
import { type DatasetCursor, max_known_messages } from '../../../kernel/data/landed-dataset.ts'
import type { SourceMessage } from '../../../shared/message-source/message-source.ts'

type LandedMessages = NonNullable<DatasetCursor['messages']>

export class KnownMessages {
  /** In their order; those that have come again are gone. */
  readonly #earlier = new Map<string, number>()
  readonly #landed: string[] = []
  /** Messages that were left out. */
  count = 0

  /** `isSettled`: the queue has removed the messages that landed with the dataset before. */
  constructor(base: LandedMessages | undefined, isSettled: boolean) {
    const digests = base ? [...base.earlier, ...(isSettled ? [] : base.landed)] : []
    for (const digest of digests) this.#earlier.set(digest, (this.#earlier.get(digest) ?? 0) + 1)
  }

  /**
   * Whether it has not landed yet. One that was never delivered is new, whatever it is equal to. An equal one that has landed counts as
   * often as it has.
   */
  isNew(message: SourceMessage): boolean {
    const digest = digestMessage(message)
    const left = this.#earlier.get(digest) ?? 0
    if (!message.isRedelivered || left === 0) {
      this.#landed.push(digest)
      return true
    }
    if (left === 1) this.#earlier.delete(digest)
    else this.#earlier.set(digest, left - 1)
    this.count++
    return false
  }

  /** `isEmpty`: the queue had nothing else to deliver, so that it has none of the earlier ones any more. */
  describe(isEmpty: boolean): LandedMessages {
    const all = isEmpty ? [] : [...this.#earlier].flatMap(([digest, count]) => Array<string>(count).fill(digest))
    const room = max_known_messages - this.#landed.length
    return { landed: this.#landed, earlier: room > 0 ? all.slice(-room) : [] }
  }
}

/** 132 bits of all that its sender and the broker's routing gave it, which a second delivery has too. */
function digestMessage({ body, properties }: SourceMessage): string {
  const named = Object.entries(properties).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const digest = createHash('sha256').update(JSON.stringify(named)).update('\0').update(body).digest('base64url')
  return digest.slice(0, 22)
}

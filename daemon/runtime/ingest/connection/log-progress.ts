// Where a reading of logs is: the next offset of each partition, and messages that were gone before they were read.
import type { DatasetCursor } from '../../../kernel/data/landed-dataset.ts'
import type { LogGap, LogPosition, PartitionOffset } from '../../../shared/message-source/message-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

export class LogProgress {
  readonly #offsets: Map<string, bigint>
  readonly #epochs: Map<string, number>
  #log: string | undefined
  readonly #on_lost_messages: 'fail' | 'continue'
  #lost = 0n

  constructor(base: DatasetCursor | undefined, on_lost_messages: 'fail' | 'continue') {
    const offsets = Object.entries(base?.offsets ?? {})
    this.#offsets = new Map(offsets.map(([partition, offset]) => [partition, BigInt(offset)]))
    this.#epochs = new Map(Object.entries(base?.epochs ?? {}))
    this.#log = base?.log
    this.#on_lost_messages = on_lost_messages
  }

  get isRead(): boolean {
    return this.#offsets.size > 0
  }

  /** As it is now: the reading moves it on. */
  get position(): LogPosition {
    return { offsets: new Map(this.#offsets), epochs: new Map(this.#epochs), log: this.#log }
  }

  name(log: string | undefined): void {
    this.#log ??= log
  }

  move({ partition, offset, epoch }: PartitionOffset): void {
    this.#offsets.set(partition, offset)
    if (epoch === undefined) this.#epochs.delete(partition)
    else this.#epochs.set(partition, epoch)
  }

  /** Throws `RowSourceError` unless the task goes on behind messages that are lost. */
  pass({ partition, start, end }: LogGap): void {
    if (this.#on_lost_messages === 'continue') {
      this.#lost += end - start
      return
    }
    throw new RowSourceError(
      `partition ${partition} was read up to offset ${start} and begins at ${end} now: messages between them were removed before they were read; set on_lost_messages to continue to go on behind them`,
    )
  }

  describe(): Pick<DatasetCursor, 'offsets' | 'epochs' | 'log'> {
    return {
      offsets: Object.fromEntries([...this.#offsets].map(([at, next]) => [at, `${next}`])),
      ...(this.#epochs.size > 0 && { epochs: Object.fromEntries(this.#epochs) }),
      ...(this.#log !== undefined && { log: this.#log }),
    }
  }

  describeGaps(): string {
    return this.#lost > 0n ? `; ${this.#lost} offsets were removed before they were read` : ''
  }
}

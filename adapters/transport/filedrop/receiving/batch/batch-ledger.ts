// The ledger as one message of a batch sees it: the journal, and the entries of the earlier messages in the batch.
import type { Journal, MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { LedgerEntry, MessageArrival } from '../../../../../daemon/kernel/messaging/ledger.ts'
import type { MessageKinds } from '../../../../../daemon/kernel/messaging/message-kind.ts'
import type { FiledropContext } from '../../filedrop-context.ts'

export type BatchLedger = {
  /** The channel's epoch. */
  readonly epoch: number
  /** Of a number of the batch, or one beside it. */
  entry(epoch: number, seq: number): LedgerEntry | undefined
  /** Whether a person gave this number of the batch up. */
  isSkipped(number: MessageNumber): boolean
  readonly isOrdered: MessageKinds['isOrdered']
  /** The highest number that arrived in an epoch of the batch; 0 before the first. */
  highest(epoch: number): number
  /** As `Journal.receive` will: an entry that is there already stays. */
  enter(arrival: MessageArrival): void
}

/** Read once for the whole batch, so that judging it waits for nothing. */
export async function readBatchLedger(
  {
    journal,
    kinds,
  }: Pick<FiledropContext, 'kinds'> & { readonly journal: Pick<Journal, 'entries' | 'skipped' | 'progress'> },
  channel: string,
  channelEpoch: number,
  numbers: readonly MessageNumber[],
): Promise<BatchLedger> {
  const entries = new Map<string, LedgerEntry>()
  const near = new Map(numbers.flatMap(neighbourNumbers).map((number) => [keyOf(number), number]))
  for (const entry of await journal.entries(channel, [...near.values()])) entries.set(keyOf(entry), entry)
  const skipped = new Set((await journal.skipped(channel, numbers)).map(keyOf))
  const highest = new Map<number, number>()
  for (const epoch of new Set(numbers.map((number) => number.epoch))) {
    highest.set(epoch, (await journal.progress(channel, epoch)).highest)
  }
  return {
    epoch: channelEpoch,
    entry: (epoch, seq) => entries.get(keyOf({ epoch, seq })),
    isSkipped: (number) => skipped.has(keyOf(number)),
    isOrdered: kinds.isOrdered,
    highest: (epoch) => highest.get(epoch) ?? 0,
    enter(arrival) {
      const key = keyOf(arrival)
      if (entries.has(key)) return
      entries.set(key, { ...arrival, state: 'received', code: '' })
      highest.set(arrival.epoch, Math.max(highest.get(arrival.epoch) ?? 0, arrival.seq))
    },
  }
}

function neighbourNumbers({ epoch, seq }: MessageNumber): MessageNumber[] {
  return [seq - 1, seq, seq + 1].map((near) => ({ epoch, seq: near }))
}

function keyOf({ epoch, seq }: MessageNumber): string {
  return `${epoch}-${seq}`
}

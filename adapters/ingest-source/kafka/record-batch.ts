// Batches of messages as brokers store them: checked, expanded, and without those of aborted transactions.
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { crc32c } from './crc32c.ts'
import { expandBatch } from './expand.ts'
import type { AbortedTransaction, FetchedPartition } from './topic-requests.ts'
import { MalformedBytesError, WireReader } from './wire-reader.ts'

export type KafkaRecord = {
  readonly offset: bigint
  /** Milliseconds since 1970; of the producer, or of the broker where the topic is set so. */
  readonly at_ms: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[]
  /** Of one with more than the limit nothing else is read. */
  readonly bytes: number
}

export type RecordBatch = {
  /** Offset after its last message, which may be gone from it. */
  readonly next: bigint
  readonly leader_epoch: number
  /** Empty where its messages are none for readers: marks of transactions, and messages of those that were aborted. */
  readonly records: Iterable<KafkaRecord>
}

/** Offset and length; then epoch, version and checksum; then what the checksum covers. */
const length_bytes = 12
const checked_at = 21
const smallest_batch_bytes = 61

const codec_bits = 0b111
const broker_time_bit = 8
const transaction_bit = 16
const control_bit = 32

/** The last one may have been cut by the broker, and is left for the next answer. Throws `RowSourceError`, and `MalformedBytesError`. */
export function* readBatches({ records, aborted }: FetchedPartition, max_record_bytes: number): Iterable<RecordBatch> {
  const open = new AbortedProducers(aborted)
  for (let left = records; left.length >= smallest_batch_bytes; ) {
    const size = length_bytes + left.readInt32BE(8)
    if (size > left.length) return
    const version = left.readInt8(16)
    if (version !== 2)
      throw new RowSourceError('the topic has messages of a format before Kafka 0.11, which are not read')
    if (size < smallest_batch_bytes) throw new MalformedBytesError('a batch is shorter than its header')
    yield readBatch(left.subarray(0, size), open, max_record_bytes)
    left = left.subarray(size)
  }
}

function readBatch(bytes: Buffer, open: AbortedProducers, max_record_bytes: number): RecordBatch {
  const reader = new WireReader(bytes)
  const base = reader.int64()
  reader.int32()
  const leader_epoch = reader.int32()
  reader.int8()
  if (reader.uint32() !== crc32c(bytes.subarray(checked_at)))
    throw new RowSourceError('a batch of messages is damaged: its checksum is another one', false)
  const attributes = reader.int16()
  const last = base + BigInt(reader.int32())
  const times = { first: reader.int64(), broker: reader.int64() }
  const producer = reader.int64()
  reader.take(6)
  const count = reader.int32()
  const rest = reader.take(reader.remaining)
  const read = () =>
    readRecords(expandBatch(attributes & codec_bits, rest), { base, count, times, attributes, max_record_bytes })
  const found = { next: last + 1n, leader_epoch }
  open.advance(last)
  if (attributes & control_bit) {
    for (const { key } of read()) open.endTransaction(producer, key)
    return { ...found, records: [] }
  }
  const isAborted = (attributes & transaction_bit) !== 0 && open.has(producer)
  return { ...found, records: isAborted ? [] : read() }
}

type BatchHeader = {
  readonly base: bigint
  readonly count: number
  readonly times: { readonly first: bigint; readonly broker: bigint }
  readonly attributes: number
  readonly max_record_bytes: number
}

function* readRecords(
  bytes: Buffer,
  { base, count, times, attributes, max_record_bytes }: BatchHeader,
): Iterable<KafkaRecord> {
  const reader = new WireReader(bytes)
  for (let left = count; left > 0; left--) {
    const record = new WireReader(reader.take(reader.varint()))
    const size = record.remaining
    record.int8()
    const at_ms = times.first + record.varlong()
    const offset = base + BigInt(record.varint())
    // A compressed batch has room for a record of millions of headers, which nobody reads.
    if (size > max_record_bytes) {
      yield { offset, at_ms, key: null, value: null, headers: [], bytes: size }
      continue
    }
    const [key, value] = [record.varintBytes(), record.varintBytes()]
    const headers: [string, Buffer | null][] = []
    for (let more = record.varint(); more > 0; more--)
      headers.push([record.varintBytes()?.toString() ?? '', record.varintBytes()])
    yield { offset, at_ms: attributes & broker_time_bit ? times.broker : at_ms, key, value, headers, bytes: size }
  }
}

/** Transactions that were aborted, as an answer lists them: by producer, each up to the mark of its end. */
class AbortedProducers {
  readonly #waiting: AbortedTransaction[]
  readonly #open = new Set<bigint>()

  constructor(aborted: readonly AbortedTransaction[]) {
    // The next one is the last of the list.
    this.#waiting = aborted.toSorted((one, other) => (one.first < other.first ? 1 : -1))
  }

  /** To a batch that ends at the offset. */
  advance(last: bigint): void {
    for (let next = this.#waiting.at(-1); next && next.first <= last; next = this.#waiting.at(-1)) {
      this.#open.add(next.producer)
      this.#waiting.pop()
    }
  }

  has(producer: bigint): boolean {
    return this.#open.has(producer)
  }

  /** `key`: of the mark: its version, and 0 for one that was aborted. */
  endTransaction(producer: bigint, key: Buffer | null): void {
    if (key && key.length >= 4 && key.readInt16BE(2) === 0) this.#open.delete(producer)
  }
}

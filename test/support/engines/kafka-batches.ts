// Batches of messages as a broker of Kafka sends them, also such as no broker has.
import { crc32c } from '../../../adapters/ingest-source/kafka/crc32c.ts'
import { WireWriter } from '../../../adapters/ingest-source/kafka/wire-writer.ts'

export type BatchParts = {
  readonly base?: number
  readonly values?: readonly (string | null)[]
  readonly attributes?: number
  readonly producer?: number
  /** In place of the records, as their codec makes them. */
  readonly records?: Buffer
  /** In place of the number of records. */
  readonly count?: number
  /** In place of the last offset, from the base on. */
  readonly last?: number
  readonly checksum?: number
  /** Term of the leader. */
  readonly epoch?: number
}

export const control_attributes = 0b11_0000
export const transaction_attributes = 0b1_0000

export function buildBatch(parts: BatchParts): Buffer {
  const { base = 0, values = [], attributes = 0, producer = -1, count = values.length } = parts
  const records = parts.records ?? Buffer.concat(values.map((value, at) => buildRecord(at, null, value)))
  const checked = new WireWriter()
    .int16(attributes)
    .int32(parts.last ?? Math.max(0, values.length - 1))
    .int64(1_700_000_000_000n)
    .int64(1_700_000_000_000n)
    .int64(BigInt(producer))
    .int16(0)
    .int32(-1)
    .int32(count)
    .raw(records)
    .done()
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(parts.checksum ?? crc32c(checked))
  const rest = new WireWriter()
    .int32(parts.epoch ?? 7)
    .int8(2)
    .raw(checksum)
    .raw(checked)
    .done()
  return new WireWriter().int64(BigInt(base)).bytes(rest).done()
}

/** The mark of the end of a transaction. */
export function buildMark(base: number, producer: number, end: 'abort' | 'commit'): Buffer {
  const key = Buffer.from([0, 0, 0, end === 'abort' ? 0 : 1])
  const records = buildRecord(0, key, '\0\0\0\0\0\0')
  return buildBatch({ base, producer, records, count: 1, last: 0, attributes: control_attributes })
}

export function buildRecord(delta: number, key: Buffer | null, value: string | null): Buffer {
  const body = new WireWriter().int8(0).raw(zigzag(0)).raw(zigzag(delta))
  for (const bytes of [key, value === null ? null : Buffer.from(value)])
    body.raw(zigzag(bytes?.length ?? -1)).raw(bytes ?? Buffer.alloc(0))
  const record = body.raw(zigzag(0)).done()
  return Buffer.concat([zigzag(record.length), record])
}

export function zigzag(value: number): Buffer {
  return new WireWriter().unsignedVarint(value < 0 ? -2 * value - 1 : 2 * value).done()
}

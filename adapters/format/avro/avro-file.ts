// The container of an Avro file (specification 1.12, "Object Container Files"): its schema, and its blocks unpacked.
import { crc32, inflateRawSync } from 'node:zlib'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { decompressors } from '../parquet/check-pages.ts'
import { AvroCursor } from './avro-cursor.ts'

const magic = Buffer.from('Obj\x01', 'latin1')
const sync_bytes = 16
const max_header_bytes = 16_777_216
const max_header_items = 1_024
/** Of a block, packed and unpacked. Programs write blocks of some kilobytes. */
const max_block_bytes = 67_108_864
/** Two numbers of ten bytes each. */
const block_head_bytes = 20

const { SNAPPY: unpackRawSnappy = () => new Uint8Array(0) } = decompressors

type Unpack = (packed: Uint8Array) => Uint8Array

const codecs: Readonly<Record<string, Unpack>> = {
  null: (packed) => packed,
  deflate: (packed) => inflateRawSync(packed, { maxOutputLength: max_block_bytes }),
  snappy: unpackSnappy,
  zstandard: (packed) => decompressors.ZSTD(packed, max_block_bytes),
}

export type AvroFile = {
  /** As JSON. */
  readonly schema: string
  /** Each block with the count of its records. Throws `DataFault`, and what the file throws. */
  blocks(onRead: (read_bytes: number) => void): Generator<{ readonly count: number; readonly bytes: Uint8Array }>
}

/** Throws `DataFault`, and what the file throws. */
export function openAvroFile(file: RangeSource): AvroFile {
  const head = new Uint8Array(file.read(0, Math.min(max_header_bytes, file.size)))
  if (!magic.equals(head.subarray(0, magic.length))) throw new DataFault('damaged, or not an Avro file')
  const cursor = new AvroCursor(head.subarray(magic.length))
  const items = readMetadata(cursor)
  const sync = Uint8Array.from(cursor.bytes(sync_bytes))
  const codec = items.get('avro.codec') ?? 'null'
  const unpack = Object.hasOwn(codecs, codec) ? codecs[codec] : undefined
  if (!unpack) throw new DataFault(`its blocks are packed by ${JSON.stringify(codec.slice(0, 64))}, which is not read`)
  const schema = items.get('avro.schema')
  if (schema === undefined) throw new DataFault('damaged: it has no schema')
  const start = magic.length + cursor.offset
  return { schema, blocks: (onRead) => readBlocks(file, { start, sync, unpack }, onRead) }
}

function readMetadata(cursor: AvroCursor): Map<string, string> {
  const items = new Map<string, string>()
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8')
  for (let count = cursor.count(); count !== 0; count = cursor.count()) {
    if (count < 0) cursor.count()
    for (let left = Math.abs(count); left > 0; left--) {
      if (items.size === max_header_items) throw new DataFault('damaged: its header has too many items')
      items.set(textOf(cursor.bytes()), textOf(cursor.bytes()))
    }
  }
  return items
}

function* readBlocks(
  file: RangeSource,
  { start, sync, unpack }: { readonly start: number; readonly sync: Uint8Array; readonly unpack: Unpack },
  onRead: (read_bytes: number) => void,
): ReturnType<AvroFile['blocks']> {
  for (let at = start; at < file.size; ) {
    onRead(at)
    const head = new AvroCursor(new Uint8Array(file.read(at, Math.min(at + block_head_bytes, file.size))))
    const [count, length] = [head.count(), head.count()]
    const from = at + head.offset
    if (count < 0 || length < 0 || length > max_block_bytes)
      throw new DataFault(`a block claims ${count} records in ${length} bytes`)
    at = from + length + sync_bytes
    if (at > file.size) throw new DataFault('damaged: the file ends within a block')
    const packed = new Uint8Array(file.read(from, at))
    if (!packed.subarray(length).every((byte, index) => byte === sync[index]))
      throw new DataFault('damaged: a block does not end where it must')
    yield { count, bytes: unpackBlock(packed.subarray(0, length), unpack) }
  }
  onRead(file.size)
}

function unpackBlock(packed: Uint8Array, unpack: Unpack): Uint8Array {
  try {
    return unpack(packed)
  } catch (error) {
    if (error instanceof DataFault) throw error
    throw new DataFault(`damaged: a block cannot be unpacked, or has more than ${max_block_bytes} bytes`)
  }
}

/** The length is in front of the packed bytes, and the checksum of the unpacked ones behind them. */
function unpackSnappy(packed: Uint8Array): Uint8Array {
  const content = packed.subarray(0, -4)
  let length = 0
  for (let at = 0, shift = 1; at < 5; at++, shift *= 128) {
    const byte = content[at] ?? 0
    length += (byte & 0x7f) * shift
    if (byte < 0x80) break
  }
  if (length > max_block_bytes) throw new DataFault(`a block claims ${length} bytes`)
  const bytes = unpackRawSnappy(content, length)
  const stated = new DataView(packed.buffer, packed.byteOffset + content.length, 4).getUint32(0)
  if (crc32(bytes) !== stated) throw new DataFault('damaged: the checksum of a block differs')
  return bytes
}

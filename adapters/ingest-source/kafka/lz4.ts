// LZ4 in its frame, as producers write it. Its checksums are left aside: the batch has one.
import type { ExpandedBytes } from './expanded-bytes.ts'
import { MalformedBytesError, WireReader } from './wire-reader.ts'

const frame_magic = 0x184d2204
const flags = { content_checksum: 4, content_size: 8, block_checksum: 16, dictionary: 1 } as const
const version_bits = 0b1100_0000
const version_1 = 0b0100_0000
const uncompressed_bit = 0x8000_0000

/** https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */
export function expandLz4(bytes: Buffer, into: ExpandedBytes): void {
  const reader = new WireReader(bytes)
  while (reader.remaining > 0) expandFrame(reader, into)
}

function expandFrame(reader: WireReader, into: ExpandedBytes): void {
  if (reader.take(4).readUInt32LE() !== frame_magic) throw new MalformedBytesError('a frame is not of LZ4')
  const descriptor = reader.take(2).readUInt8()
  if ((descriptor & version_bits) !== version_1 || descriptor & flags.dictionary)
    throw new MalformedBytesError('a frame of LZ4 has another version, or a dictionary')
  // Then a checksum of the header.
  reader.take((descriptor & flags.content_size ? 8 : 0) + 1)
  for (;;) {
    const size = reader.take(4).readUInt32LE()
    if (size === 0) break
    const block = reader.take(size % uncompressed_bit)
    if (size >= uncompressed_bit) into.add(block)
    else expandBlock(new WireReader(block), into)
    if (descriptor & flags.block_checksum) reader.take(4)
  }
  if (descriptor & flags.content_checksum) reader.take(4)
}

/** https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md */
function expandBlock(block: WireReader, into: ExpandedBytes): void {
  for (;;) {
    const token = block.take(1).readUInt8()
    into.add(block.take(readLength(block, token >> 4)))
    // The last sequence has literals alone.
    if (block.remaining === 0) return
    const distance = block.take(2).readUInt16LE()
    into.repeat(distance, readLength(block, token & 15) + 4)
  }
}

function readLength(block: WireReader, coded: number): number {
  let length = coded
  if (coded < 15) return length
  for (;;) {
    const more = block.take(1).readUInt8()
    length += more
    if (more < 255) return length
  }
}

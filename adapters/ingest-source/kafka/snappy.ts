// Snappy as producers write it: one block, or blocks in the frame of the Java library.
import type { ExpandedBytes } from './expanded-bytes.ts'
import { MalformedBytesError, WireReader } from './wire-reader.ts'

/** Of the frame: a name, then two versions. */
const frame_name = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
const frame_versions_bytes = 8

export function expandSnappy(bytes: Buffer, into: ExpandedBytes): void {
  const reader = new WireReader(bytes)
  if (!bytes.subarray(0, frame_name.length).equals(frame_name)) {
    expandBlock(reader, into)
    return
  }
  reader.take(frame_name.length + frame_versions_bytes)
  while (reader.remaining > 0) expandBlock(new WireReader(reader.bytes()), into)
}

/** https://github.com/google/snappy/blob/main/format_description.txt */
function expandBlock(block: WireReader, into: ExpandedBytes): void {
  const end = into.length + block.unsignedVarint()
  while (block.remaining > 0) {
    const tag = block.take(1).readUInt8()
    const kind = tag & 3
    if (kind === 0) into.add(block.take(readLiteralLength(block, tag >> 2)))
    else if (kind === 1) into.repeat(((tag >> 5) << 8) | block.take(1).readUInt8(), ((tag >> 2) & 7) + 4)
    else into.repeat(kind === 2 ? block.take(2).readUInt16LE() : block.take(4).readUInt32LE(), (tag >> 2) + 1)
  }
  if (into.length !== end) throw new MalformedBytesError('a block of Snappy has another length than it says')
}

/** Up to 60 bytes are in the tag; others have one to four bytes of their own. */
function readLiteralLength(block: WireReader, coded: number): number {
  return (coded < 60 ? coded : block.take(coded - 59).readUIntLE(0, coded - 59)) + 1
}

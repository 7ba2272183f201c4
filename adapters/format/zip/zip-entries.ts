// Reads the parts of a ZIP archive by its central directory; each is inflated piece by piece and to a limit.
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export type ZipEntry = {
  readonly method: number
  /** CRC-32 of the unpacked bytes. */
  readonly checksum: number
  readonly compressed_bytes: number
  /** Of the header before the data. */
  readonly start: number
}
export type ZipEntries = ReadonlyMap<string, ZipEntry>

const end_bytes = 22
const max_comment_bytes = 65_535
const max_directory_bytes = 16_777_216
const max_entries = 10_000
const [endMark, directoryMark, localMark] = [0x06054b50, 0x02014b50, 0x04034b50]
const in_zip64 = 0xffff_ffff
const piece_bytes = 65_536

const damaged = 'damaged: a part lies beyond the end of the file'

/** `wanted`: what the archive should be, in messages. Throws `DataFault`, and what the file throws. */
export function readZipEntries(file: RangeSource, wanted: string): ZipEntries {
  const fault = new DataFault(`damaged, or not ${wanted}`)
  const tail = viewOf(file, Math.max(0, file.size - end_bytes - max_comment_bytes), file.size)
  let at = tail.byteLength - end_bytes
  while (at >= 0 && tail.getUint32(at, true) !== endMark) at--
  if (at < 0) throw fault
  const [count, length, start] = [
    tail.getUint16(at + 10, true),
    tail.getUint32(at + 12, true),
    tail.getUint32(at + 16, true),
  ]
  if (start === in_zip64 || count === 0xffff)
    throw new DataFault(`a ZIP64 archive, which is not supported: save ${wanted} with fewer rows`)
  if (start + length > file.size || length > max_directory_bytes || count > max_entries) throw fault
  return parseDirectory(viewOf(file, start, start + length), count, fault)
}

function parseDirectory(view: DataView, count: number, fault: DataFault): ZipEntries {
  const entries = new Map<string, ZipEntry>()
  const decoder = new TextDecoder()
  for (let at = 0, index = 0; index < count; index++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== directoryMark) throw fault
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
    const [name_bytes, extra_bytes, comment_bytes] = [28, 30, 32].map((offset) =>
      view.getUint16(at + offset, true),
    ) as [number, number, number]
    const end = at + 46 + name_bytes
    if (end > view.byteLength) throw fault
    const name = decoder.decode(new Uint8Array(view.buffer, view.byteOffset + at + 46, name_bytes)).replace(/^\//, '')
    if ((flags & 1) !== 0) throw new DataFault('encrypted: remove the password')
    if (entries.has(name)) throw new DataFault(`damaged: two parts have the name ${JSON.stringify(name)}`)
    const [compressed_bytes, start] = [view.getUint32(at + 20, true), view.getUint32(at + 42, true)]
    if (compressed_bytes === in_zip64 || start === in_zip64)
      throw new DataFault('a ZIP64 archive, which is not supported')
    const checksum = view.getUint32(at + 16, true)
    entries.set(name, { method, checksum, compressed_bytes, start })
    at = end + extra_bytes + comment_bytes
  }
  return entries
}

/**
 * Yields the bytes of a part. Throws `DataFault` where it has more than `max_bytes`, regardless of the size that the archive states, and at the end
 * where its checksum differs.
 */
export async function* inflateEntry(
  file: RangeSource,
  { method, checksum, compressed_bytes, start }: ZipEntry,
  max_bytes: number,
  onRead: (read_bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (start + 30 > file.size) throw new DataFault(damaged)
  const header = viewOf(file, start, start + 30)
  if (header.getUint32(0, true) !== localMark) throw new DataFault(damaged)
  const from = start + 30 + header.getUint16(26, true) + header.getUint16(28, true)
  if (from + compressed_bytes > file.size) throw new DataFault(damaged)
  if (method !== 0 && method !== 8) throw new DataFault(`compressed by method ${method}, which is not supported`)
  let [length, found] = [0, 0]
  const pieces = readPieces(file, from, from + compressed_bytes, onRead)
  for await (const piece of method === 0 ? pieces : inflate(pieces)) {
    length += piece.length
    if (length > max_bytes) throw new DataFault(`a part of it has more than ${max_bytes} bytes`)
    found = crc32(piece, found)
    yield piece
  }
  if (found !== checksum) throw new DataFault('damaged: the checksum of a part is wrong')
}

function* readPieces(file: RangeSource, start: number, end: number, onRead: (read_bytes: number) => void) {
  for (let at = start; at < end; at += piece_bytes) {
    onRead(at - start)
    yield new Uint8Array(file.read(at, Math.min(end, at + piece_bytes)))
  }
}

async function* inflate(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const inflater = createInflateRaw({ chunkSize: piece_bytes })
  pipeline(Readable.from(pieces), inflater, () => undefined)
  try {
    for await (const piece of inflater) yield piece as Uint8Array
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw /^(Z_|ERR_STREAM_PREMATURE)/.test(code) ? new DataFault(`damaged: ${(error as Error).message}`) : error
  }
}

function viewOf(file: RangeSource, start: number, end: number): DataView {
  return new DataView(file.read(start, end))
}

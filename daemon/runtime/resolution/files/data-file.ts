// Reads the bytes of a data file: of a regular file only, as UTF-8 where it is text, and only while the file does not change.
import { isUtf8 } from 'node:buffer'
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** A file that cannot be read. The message continues a sentence after the name of the file. */
export class DataFileError extends Error {
  readonly remedy: string | undefined
  constructor(message: string, remedy?: string) {
    super(message)
    this.name = 'DataFileError'
    this.remedy = remedy
  }
}

export type DataFile = {
  readonly size: number
  /** Reads the bytes of a range. Throws `DataFileError` where the file ends before it. */
  read(start: number, end: number): ArrayBuffer
  /** Passes on all bytes in order, or the first `max_bytes`, checked to be text. Throws `DataFileError`. */
  forEachTextChunk(onChunk: (bytes: Uint8Array, read_bytes: number) => void, max_bytes?: number): void
  /** Throws `DataFileError` where the file has changed since it was opened. */
  checkUnchanged(): void
  close(): void
}

/** Large, so that many values of a column are numbered while its table is in the processor cache. */
const chunk_bytes = 16_777_216

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
  ELOOP: 'it is a link that leads back to itself',
  ENXIO: 'it is not a regular file',
}

/** Throws `DataFileError` where the file does not exist, may not be read, or is a folder, pipe or device. */
export function openDataFile(file: string): DataFile {
  return openDataDescriptor(convertFileErrors(() => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)))
}

/** Reads a file that is open already. Closes it and throws `DataFileError` where it is not a regular file. */
export function openDataDescriptor(descriptor: number): DataFile {
  const initial = fstatSync(descriptor, { bigint: true })
  if (!initial.isFile()) {
    closeSync(descriptor)
    const kind = initial.isDirectory() ? 'a folder' : initial.isFIFO() ? 'a pipe' : 'a device'
    throw new DataFileError(`cannot be read: it is ${kind}, not a file`)
  }
  const size = Number(initial.size)
  return {
    size,
    read: (start, end) => readRange(descriptor, start, end),
    forEachTextChunk: (onChunk, max_bytes = size) =>
      forEachTextChunk(descriptor, Math.min(size, max_bytes), size, onChunk),
    checkUnchanged() {
      if (!isUnchanged(initial, fstatSync(descriptor, { bigint: true }))) {
        throw new DataFileError('was changed while it was read', 'read it again when no program writes to it')
      }
    },
    close: () => closeSync(descriptor),
  }
}

function convertFileErrors<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new DataFileError(`cannot be read: ${reasonsByCode[code] ?? code}`)
  }
}

function isUnchanged(initial: BigIntStats, after: BigIntStats): boolean {
  return initial.size === after.size && initial.mtimeNs === after.mtimeNs
}

function readRange(descriptor: number, start: number, end: number): ArrayBuffer {
  const bytes = new Uint8Array(end - start)
  for (let offset = 0; offset < bytes.length; ) {
    const read_count = convertFileErrors(() =>
      readSync(descriptor, bytes, offset, bytes.length - offset, start + offset),
    )
    if (read_count === 0) throw new DataFileError('is shorter than at its opening: it was changed while it was read')
    offset += read_count
  }
  return bytes.buffer
}

/**
 * Reads at most `max_bytes`, so that a growing file cannot keep a reader for ever. Leaves out a character that is cut by
 * `max_bytes`.
 */
function forEachTextChunk(
  descriptor: number,
  max_bytes: number,
  size: number,
  onChunk: (bytes: Uint8Array, read_bytes: number) => void,
): void {
  const chunk = new Uint8Array(Math.min(chunk_bytes, size + 1))
  let carried = 0
  let read_bytes = 0
  for (;;) {
    const max_read = Math.min(chunk.length - carried, max_bytes - read_bytes - carried)
    const read_count = convertFileErrors(() => readSync(descriptor, chunk, carried, max_read, null))
    const bytes = chunk.subarray(0, carried + read_count)
    if (bytes.length === 0) return
    const complete = bytes.subarray(
      0,
      read_count === 0 && max_bytes === size ? bytes.length : countWholeCharacters(bytes),
    )
    if (read_count === 0 && complete.length === 0) return
    if (read_bytes === 0) rejectKnownFormats(complete)
    if (!isUtf8(complete) || complete.includes(0)) throw encodingError(descriptor, complete, read_bytes)
    read_bytes += complete.length
    onChunk(complete, read_bytes)
    carried = bytes.length - complete.length
    chunk.copyWithin(0, complete.length, bytes.length)
  }
}

/** Leaves out an incomplete character at the end. */
function countWholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return back < length ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

const magicNumbers: readonly (readonly [bytes: readonly number[], what: string, remedy: string])[] = [
  [[0xff, 0xfe], 'is UTF-16', 'write it as UTF-8: `iconv -f UTF-16 -t UTF-8`'],
  [[0xfe, 0xff], 'is UTF-16', 'write it as UTF-8: `iconv -f UTF-16 -t UTF-8`'],
  [[0x1f, 0x8b], 'is compressed', 'unpack it: `gunzip`'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is compressed', 'unpack it: `unzstd`'],
  [[0x50, 0x4b, 0x03, 0x04], 'is a ZIP archive, or a workbook', 'unpack it, or save its sheet as CSV'],
  [[0x50, 0x41, 0x52, 0x31], 'is Parquet', 'name it .parquet, or pass `--data-format parquet`'],
]

function rejectKnownFormats(bytes: Uint8Array): void {
  const match = magicNumbers.find(([first]) => first.every((byte, index) => bytes[index] === byte))
  if (match) throw new DataFileError(`cannot be read as text: it ${match[1]}`, match[2])
}

/** Names the line of the fault. Lines are counted only now, since almost no file has a fault. */
function encodingError(descriptor: number, bytes: Uint8Array, read_bytes: number): DataFileError {
  let line = 1 + countLines(descriptor, read_bytes)
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const text = bytes.subarray(start, end)
    if (!isUtf8(text) || text.includes(0)) break
    start = end + 1
    line++
  }
  const lineEnd = bytes.indexOf(10, start)
  const text = bytes.subarray(start, lineEnd < 0 ? bytes.length : lineEnd)
  if (isUtf8(text)) return new DataFileError(`cannot be read: line ${line} contains a NUL byte`)
  const remedy = 'write all of it as UTF-8; of ISO 8859-1: `iconv -f ISO-8859-1 -t UTF-8`'
  return new DataFileError(`cannot be read: line ${line} is not UTF-8`, remedy)
}

function countLines(descriptor: number, end: number): number {
  let lines = 0
  for (let start = 0; start < end; start += chunk_bytes) {
    const bytes = new Uint8Array(readRange(descriptor, start, Math.min(end, start + chunk_bytes)))
    for (let offset = bytes.indexOf(10); offset >= 0; offset = bytes.indexOf(10, offset + 1)) lines++
  }
  return lines
}

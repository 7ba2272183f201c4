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
  read(from: number, to: number): ArrayBuffer
  /** Passes on all bytes in order, or the first `max_bytes`, checked to be text. `done`: bytes so far. Throws `DataFileError`. */
  forEachTextChunk(take: (bytes: Uint8Array, done: number) => void, max_bytes?: number): void
  /** Throws `DataFileError` where the file has changed since it was opened. */
  checkUnchanged(): void
  close(): void
}

/** Large, so that many values of a column are numbered while its table is in the processor cache. */
const chunk_bytes = 16_777_216

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
  ELOOP: 'it is a link that leads back to itself',
  ENXIO: 'it is no file',
}

/** Throws `DataFileError` where the file does not exist, may not be read, or is a folder, pipe or device. */
export function openDataFile(file: string): DataFile {
  return openDataDescriptor(convertFileErrors(() => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)))
}

/** Reads a file that is open already. Closes it and throws `DataFileError` where it is not a regular file. */
export function openDataDescriptor(opened: number): DataFile {
  const before = fstatSync(opened, { bigint: true })
  if (!before.isFile()) {
    closeSync(opened)
    const what = before.isDirectory() ? 'a folder' : before.isFIFO() ? 'a pipe' : 'a device'
    throw new DataFileError(`cannot be read: it is ${what}, not a file`)
  }
  const size = Number(before.size)
  return {
    size,
    read: (from, to) => readRange(opened, from, to),
    forEachTextChunk: (take, max_bytes = size) => forEachTextChunk(opened, Math.min(size, max_bytes), size, take),
    checkUnchanged() {
      if (!isUnchanged(before, fstatSync(opened, { bigint: true }))) {
        throw new DataFileError('was changed while it was read', 'read it again when nobody writes to it')
      }
    },
    close: () => closeSync(opened),
  }
}

function convertFileErrors<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new DataFileError(`cannot be read: ${reasonsByCode[code] ?? code}`)
  }
}

function isUnchanged(before: BigIntStats, after: BigIntStats): boolean {
  return before.size === after.size && before.mtimeNs === after.mtimeNs
}

function readRange(opened: number, from: number, to: number): ArrayBuffer {
  const bytes = new Uint8Array(to - from)
  for (let at = 0; at < bytes.length; ) {
    const read = convertFileErrors(() => readSync(opened, bytes, at, bytes.length - at, from + at))
    if (read === 0) throw new DataFileError('ends before its end: it was changed while it was read')
    at += read
  }
  return bytes.buffer
}

/** Reads up to the size at opening, so that a growing file cannot keep a reader for ever. Leaves out a character cut by `until`. */
function forEachTextChunk(
  opened: number,
  until: number,
  size: number,
  take: (bytes: Uint8Array, done: number) => void,
): void {
  const chunk = new Uint8Array(Math.min(chunk_bytes, size + 1))
  let carried = 0
  let done = 0
  for (;;) {
    const max_read = Math.min(chunk.length - carried, until - done - carried)
    const read = convertFileErrors(() => readSync(opened, chunk, carried, max_read, null))
    const bytes = chunk.subarray(0, carried + read)
    if (bytes.length === 0) return
    const whole = bytes.subarray(0, read === 0 && until === size ? bytes.length : countWholeCharacters(bytes))
    if (read === 0 && whole.length === 0) return
    if (done === 0) rejectKnownFormats(whole)
    if (!isUtf8(whole) || whole.includes(0)) throw encodingError(opened, whole, done)
    done += whole.length
    take(whole, done)
    carried = bytes.length - whole.length
    chunk.copyWithin(0, whole.length, bytes.length)
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
  [[0x50, 0x41, 0x52, 0x31], 'is Parquet', 'name it .parquet, or say `--data-format parquet`'],
]

function rejectKnownFormats(bytes: Uint8Array): void {
  const found = magicNumbers.find(([first]) => first.every((byte, at) => bytes[at] === byte))
  if (found) throw new DataFileError(`cannot be read as text: it ${found[1]}`, found[2])
}

/** Names the line of the fault. Lines are counted only now, since almost no file has a fault. */
function encodingError(opened: number, bytes: Uint8Array, before: number): DataFileError {
  let line = 1 + countLines(opened, before)
  let from = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
    const text = bytes.subarray(from, end)
    if (!isUtf8(text) || text.includes(0)) break
    from = end + 1
    line++
  }
  const next = bytes.indexOf(10, from)
  const text = bytes.subarray(from, next < 0 ? bytes.length : next)
  if (isUtf8(text)) return new DataFileError(`cannot be read: line ${line} has a byte of nought, which no text has`)
  const remedy = 'write all of it as UTF-8; of ISO 8859-1: `iconv -f ISO-8859-1 -t UTF-8`'
  return new DataFileError(`cannot be read: line ${line} is not UTF-8`, remedy)
}

function countLines(opened: number, before: number): number {
  let lines = 0
  for (let from = 0; from < before; from += chunk_bytes) {
    const bytes = new Uint8Array(readRange(opened, from, Math.min(before, from + chunk_bytes)))
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  }
  return lines
}

// The bytes of a file of data: of a real file alone, as UTF-8 where it is text, and the same from beginning to end.
import { isUtf8 } from 'node:buffer'
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Why a file cannot be read; the message goes on where the name of the file ends. */
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
  /** The bytes from one place up to another. Throws `DataFileError` where the file ends before. */
  read(from: number, to: number): ArrayBuffer
  /** All bytes in order, or the first `most`, checked to be text; `done`: how many there were with these. Throws `DataFileError`. */
  forEachTextChunk(take: (bytes: Uint8Array, done: number) => void, most?: number): void
  /** Throws `DataFileError` where somebody has written to it since it was opened. */
  checkUnchanged(): void
  close(): void
}

/** Much at once: of each column many values are numbered then, while its table is near. */
const chunk_bytes = 16_777_216

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
  ELOOP: 'it is a link that leads back to itself',
  ENXIO: 'it is no file',
}

/** Throws `DataFileError`: it is not there, may not be read, or is a folder, pipe or device. */
export function openDataFile(file: string): DataFile {
  return openDataDescriptor(convertFileErrors(() => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)))
}

/** The same of what is open already. Throws `DataFileError` for what is no file, which is closed then. */
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
    forEachTextChunk: (take, most = size) => forEachTextChunk(opened, Math.min(size, most), size, take),
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

/** Up to the size that it had: who goes on writing must not keep a reader for ever. A letter cut by `until` is left out. */
function forEachTextChunk(
  opened: number,
  until: number,
  size: number,
  take: (bytes: Uint8Array, done: number) => void,
): void {
  const chunk = new Uint8Array(Math.min(chunk_bytes, size + 1))
  let kept = 0
  let done = 0
  for (;;) {
    const most = Math.min(chunk.length - kept, until - done - kept)
    const read = convertFileErrors(() => readSync(opened, chunk, kept, most, null))
    const bytes = chunk.subarray(0, kept + read)
    if (bytes.length === 0) return
    const whole = bytes.subarray(0, read === 0 && until === size ? bytes.length : countWholeCharacters(bytes))
    if (read === 0 && whole.length === 0) return
    if (done === 0) rejectKnownFormats(whole)
    if (!isUtf8(whole) || whole.includes(0)) throw encodingError(opened, whole, done)
    done += whole.length
    take(whole, done)
    kept = bytes.length - whole.length
    chunk.copyWithin(0, whole.length, bytes.length)
  }
}

/** Without a letter at the end of which only the first bytes are there. */
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

/** Says in which line; the lines before are counted only now, since almost no file is wrong. */
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

// Reads the bytes of a data file: of a regular file only, and only while the file does not change.
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { ByteSource, RangeSource } from '../../../daemon/kernel/data/byte-source.ts'

/** A file that cannot be read. The message continues a sentence after the name of the file. */
export class DataFileError extends Error {
  readonly remedy: string | undefined
  constructor(message: string, remedy?: string) {
    super(message)
    this.name = 'DataFileError'
    this.remedy = remedy
  }
}

/** `read` throws `DataFileError` where the file ends before the range. */
export type DataFile = RangeSource & {
  /** Equal for two openings of one file between which nobody wrote to it. */
  readonly version: string
  /** Fills the buffer with the bytes from `start` on, or throws. */
  fill(into: Uint8Array, start: number): void
  /**
   * Returns the bytes from the beginning as text. `onRead` receives the bytes read so far before each read; what it throws ends
   * the reading. Reading throws `DataFileError` where the file is evidently not text.
   */
  text(onRead: (read_bytes: number) => void): ByteSource
  /** Throws `DataFileError` where the file has changed since it was opened. */
  checkUnchanged(): void
  close(): void
}

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
  const version = describeVersion(initial)
  return {
    size,
    version,
    read: (start, end) => {
      const bytes = new Uint8Array(end - start)
      readInto(descriptor, bytes, start)
      return bytes.buffer
    },
    fill: (into, start) => readInto(descriptor, into, start),
    text: (onRead) => openText(descriptor, size, onRead),
    checkUnchanged() {
      if (describeVersion(fstatSync(descriptor, { bigint: true })) !== version) throw changedFileError()
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

export function changedFileError(): DataFileError {
  return new DataFileError('was changed while it was read', 'read it again when no program writes to it')
}

/** A program can set the time of the last modification back, but not that of the last change of the file (ctime). */
function describeVersion({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

function readInto(descriptor: number, bytes: Uint8Array, start: number): void {
  for (let offset = 0; offset < bytes.length; ) {
    const read_count = convertFileErrors(() =>
      readSync(descriptor, bytes, offset, bytes.length - offset, start + offset),
    )
    if (read_count === 0) throw new DataFileError('is shorter than at its opening: it was changed while it was read')
    offset += read_count
  }
}

/** Reads no more than the file had at its opening, so that a growing file cannot keep a reader for ever. */
function openText(descriptor: number, size: number, onRead: (read_bytes: number) => void): ByteSource {
  let offset = 0
  return {
    read(into) {
      onRead(offset)
      const max_bytes = Math.min(into.length, size - offset)
      const read_count = convertFileErrors(() => readSync(descriptor, into, 0, max_bytes, offset))
      if (offset === 0) rejectKnownFormats(descriptor)
      offset += read_count
      return read_count
    },
  }
}

const magicNumbers: readonly (readonly [bytes: readonly number[], what: string, remedy: string])[] = [
  [[0x1f, 0x8b], 'is compressed', 'unpack it: `gunzip`'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is compressed', 'unpack it: `unzstd`'],
  [
    [0x50, 0x4b, 0x03, 0x04],
    'is a ZIP archive, or a workbook',
    'name a workbook .xlsx, or pass `--data-format xlsx`; name an archive with a shapefile .zip, and unpack another one',
  ],
  [
    [0x00, 0x00, 0x27, 0x0a],
    'is one file of a shapefile',
    'put it with its .dbf, .prj and .cpg into a .zip, and name that',
  ],
  [[0x50, 0x41, 0x52, 0x31], 'is Parquet', 'name it .parquet, or pass `--data-format parquet`'],
  [
    [0x25, 0x50, 0x44, 0x46, 0x2d],
    'is a PDF document',
    'pass `--data-format pdf` for its text, or pdf-tables for its tables',
  ],
  [
    [0xd0, 0xcf, 0x11, 0xe0],
    'is a workbook or a document of Office before 2007',
    'name a workbook .xls, or pass `--data-format xls`',
  ],
  ...[
    [0x89, 0x50, 0x4e, 0x47],
    [0xff, 0xd8, 0xff],
    [0x47, 0x49, 0x46, 0x38],
    [0x49, 0x49, 0x2a, 0x00],
    [0x4d, 0x4d, 0x00, 0x2a],
  ].map((bytes) => [bytes, 'is an image', 'pass `--data-format image` for what is known about it'] as const),
  [[0x37, 0x7a, 0xbc, 0xaf], 'is an archive', 'unpack it'],
  [[0xfd, 0x37, 0x7a, 0x58], 'is compressed', 'unpack it: `unxz`'],
  [
    [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66],
    'is a database of SQLite',
    'name a GeoPackage .gpkg; export a table of another as CSV',
  ],
]

function rejectKnownFormats(descriptor: number): void {
  const first = new Uint8Array(8)
  convertFileErrors(() => readSync(descriptor, first, 0, first.length, 0))
  const match = magicNumbers.find(([bytes]) => bytes.every((byte, index) => first[index] === byte))
  if (match) throw new DataFileError(`cannot be read as text: it ${match[1]}`, match[2])
}

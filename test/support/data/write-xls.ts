// Writes workbooks of Excel 97 (and 95) in memory from their records, sound ones and others, in a compound file.

export type XlsSample = {
  /** Records of the cells by the name of the sheet. */
  readonly sheets: Readonly<Record<string, readonly Uint8Array[]>>
  readonly hidden?: readonly string[]
  /** Records before the sheets are listed. */
  readonly globals?: readonly Uint8Array[]
  /** Of Excel 95: texts have one byte a character. */
  readonly isOld?: boolean
}

export function biffRecord(type: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const data = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(4)
  head.writeUInt16LE(type, 0)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}

export const shorts = (...values: readonly number[]) => values.flatMap((value) => [value & 0xff, (value >> 8) & 0xff])

/** A text with a length of two bytes, of one byte a character. */
export const latinText = (text: string) =>
  Buffer.concat([Buffer.from([...shorts(text.length), 0]), Buffer.from(text, 'latin1')])

const double = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** Records of cells. Rows and columns count from 0. */
export const xlsCell = {
  text: (row: number, column: number, text: string) => biffRecord(0x0204, shorts(row, column, 0), latinText(text)),
  number: (row: number, column: number, value: number, style = 0) =>
    biffRecord(0x0203, shorts(row, column, style), double(value)),
  rk: (row: number, column: number, bits: number) =>
    biffRecord(0x027e, shorts(row, column, 0, bits & 0xffff, bits >>> 16)),
  shared: (row: number, column: number, at: number) =>
    biffRecord(0x00fd, shorts(row, column, 0, at & 0xffff, at >>> 16)),
  truth: (row: number, column: number, value: number, isError = 0) =>
    biffRecord(0x0205, shorts(row, column, 0), [value, isError]),
  /** `result`: eight bytes. */
  formula: (row: number, column: number, result: Uint8Array | readonly number[]) =>
    biffRecord(0x0006, shorts(row, column, 0), result, shorts(0, 0, 0, 3), [0x1e, 1, 0]),
  numberResult: double,
}

const bof = (version: number, kind: number) => biffRecord(0x0809, shorts(version, kind, 0, 0))
const eof = biffRecord(0x000a)

export function encodeXlsStream({ sheets, hidden = [], globals = [], isOld = false }: XlsSample): Buffer {
  const version = isOld ? 0x0500 : 0x0600
  const parts = Object.values(sheets).map((records) => Buffer.concat([bof(version, 0x10), ...records, eof]))
  const list = (starts: readonly number[]) =>
    Object.keys(sheets).map((name, at) => {
      const start = Buffer.alloc(4)
      start.writeUInt32LE(starts[at] ?? 0)
      const flags = isOld ? [name.length] : [name.length, 0]
      return biffRecord(0x0085, start, [hidden.includes(name) ? 1 : 0, 0, ...flags], Buffer.from(name, 'latin1'))
    })
  const head = (starts: readonly number[]) => Buffer.concat([bof(version, 5), ...globals, ...list(starts), eof])
  let next = head([]).length
  const starts = parts.map((part) => {
    const start = next
    next += part.length
    return start
  })
  return Buffer.concat([head(starts), ...parts])
}

const sector_bytes = 512
const [endOfChain, isTable, unused] = [0xffff_fffe, 0xffff_fffd, 0xffff_ffff]

/** A compound file with one stream, which lies in the sectors behind the directory. */
export function encodeCompound(content: Uint8Array, name = 'Workbook'): Buffer {
  const stream = Buffer.concat([content, Buffer.alloc(Math.max(0, 4_096 - content.length))])
  const data_sectors = Math.ceil(stream.length / sector_bytes)
  let table_sectors = 1
  while (table_sectors * 128 < table_sectors + 1 + data_sectors) table_sectors++
  const table = Buffer.alloc(table_sectors * sector_bytes, 0xff)
  for (let at = 0; at < table_sectors; at++) table.writeUInt32LE(isTable, at * 4)
  table.writeUInt32LE(endOfChain, table_sectors * 4)
  const first = table_sectors + 1
  for (let at = 0; at < data_sectors; at++)
    table.writeUInt32LE(at + 1 === data_sectors ? endOfChain : first + at + 1, (first + at) * 4)
  const directory = Buffer.concat([
    directoryEntry('Root Entry', 5, 1, endOfChain, 0),
    directoryEntry(name, 2, unused, first, stream.length),
    Buffer.alloc(256),
  ])
  const padding = Buffer.alloc(data_sectors * sector_bytes - stream.length)
  return Buffer.concat([compoundHeader(table_sectors), table, directory, stream, padding])
}

function compoundHeader(table_sectors: number): Buffer {
  const header = Buffer.alloc(sector_bytes)
  header.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
  header.set(shorts(0x3e, 3, 0xfffe, 9, 6), 24)
  header.writeUInt32LE(table_sectors, 44)
  header.writeUInt32LE(table_sectors, 48)
  header.writeUInt32LE(4_096, 56)
  header.writeUInt32LE(endOfChain, 60)
  header.writeUInt32LE(endOfChain, 68)
  for (let at = 0; at < 109; at++) header.writeUInt32LE(at < table_sectors ? at : unused, 76 + at * 4)
  return header
}

function directoryEntry(name: string, kind: number, child: number, start: number, size: number): Buffer {
  const entry = Buffer.alloc(128)
  entry.write(name, 0, 'utf16le')
  entry.writeUInt16LE((name.length + 1) * 2, 64)
  entry.writeUInt8(kind, 66)
  for (const at of [68, 72]) entry.writeUInt32LE(unused, at)
  entry.writeUInt32LE(child, 76)
  entry.writeUInt32LE(start, 116)
  entry.writeUInt32LE(size, 120)
  return entry
}

export function encodeXls(sample: XlsSample): Buffer {
  return encodeCompound(encodeXlsStream(sample))
}

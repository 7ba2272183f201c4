// Writes shapefiles in memory, sound ones and others: the parts, and an archive of them.
import { writeZip } from './write-zip.ts'

export type DbaseFieldOptions = { readonly name: string; readonly type: string; readonly length: number }

type Double = readonly [x: number, y: number]

/** Content of a shape: integers as `{int}`, numbers as doubles. */
export function encodeShape(type: number, ...body: readonly (number | { readonly int: number })[]): Buffer {
  return encodeBody([{ int: type }, ...body])
}

function encodeBody(body: readonly (number | { readonly int: number })[]): Buffer {
  const parts = body.map((part) => {
    const bytes = Buffer.alloc(typeof part === 'number' ? 8 : 4)
    if (typeof part === 'number') bytes.writeDoubleLE(part)
    else bytes.writeUInt32LE(part.int)
    return bytes
  })
  return Buffer.concat(parts)
}

/** Content of a shape of parts: lines or rings. `heights` are their least and greatest, and that of each point. */
export function encodeParts(
  type: number,
  parts: readonly (readonly Double[])[],
  heights: readonly number[] = [],
): Buffer {
  let count = 0
  const starts = parts.map(({ length }) => {
    count += length
    return { int: count - length }
  })
  const head = [{ int: type }, 0, 0, 0, 0, { int: parts.length }, { int: count }, ...starts]
  return Buffer.concat([encodeBody(head), encodeBody(parts.flat(2)), encodeBody(heights)])
}

export function encodeShapes(shapes: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(100)
  header.writeUInt32BE(9_994, 0)
  const records = shapes.map((content, at) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(at + 1, 0)
    head.writeUInt32BE(content.length / 2, 4)
    return Buffer.concat([head, content])
  })
  return Buffer.concat([header, ...records])
}

/** `rows`: the fields as stored, after a mark of deletion. */
export function encodeDbase(
  fields: readonly DbaseFieldOptions[],
  rows: readonly (string | Uint8Array)[],
  language = 0,
): Buffer {
  const record_bytes = 1 + fields.reduce((sum, { length }) => sum + length, 0)
  const header = Buffer.alloc(32 + fields.length * 32 + 1)
  header[0] = 3
  header.writeUInt32LE(rows.length, 4)
  header.writeUInt16LE(header.length, 8)
  header.writeUInt16LE(record_bytes, 10)
  header[29] = language
  for (const [at, { name, type, length }] of fields.entries()) {
    header.write(name, 32 + at * 32, 'latin1')
    header.write(type, 32 + at * 32 + 11, 'latin1')
    header[32 + at * 32 + 16] = length
  }
  header[header.length - 1] = 0x0d
  return Buffer.concat([header, ...rows.map((row) => Buffer.from(row))])
}

/** The archive, with the texts of other parts by their extension. */
export function writeShapefile(
  shapes: Uint8Array,
  attributes: Uint8Array,
  others: Readonly<Record<string, string>> = {},
): Uint8Array {
  const more = Object.entries(others).map(([extension, content]) => ({ name: `made.${extension}`, content }))
  return writeZip([{ name: 'made.shp', content: shapes }, { name: 'made.dbf', content: attributes }, ...more])
}

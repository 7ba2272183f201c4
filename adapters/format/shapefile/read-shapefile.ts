// Reads a shapefile in a ZIP archive by blocks: shapes and attributes are inflated side by side, record by record.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import type { TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { FeatureTable } from '../geometry/feature-table.ts'
import { geometry_column } from '../geometry/geometry-text.ts'
import { PieceReader } from '../zip/piece-reader.ts'
import { inflateEntry } from '../zip/zip-entries.ts'
import { columnsOfDbase, isDeleted, readDbaseHeader } from './dbase-table.ts'
import { shapeTextOf } from './shape-text.ts'
import { max_part_bytes, openShapefile, type ShapefileArchive } from './shapefile-archive.ts'

const [shape_code, shape_header_bytes, record_header_bytes] = [9_994, 100, 8]

/**
 * `encoding`: of the texts, regardless of what the archive says. The line of a record is its number. `onRead` receives bytes of the archive that were read.
 * Throws `DataFault`, and what the file or `onReject` throws.
 */
export async function* readShapefile(
  file: RangeSource,
  encoding: TextEncodingName | undefined,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const archive = await openShapefile(file, encoding, onRead)
  const shapes = new PieceReader(inflateEntry(file, archive.shapes, max_part_bytes, onRead), 'the .shp')
  const attributes = new PieceReader(
    inflateEntry(file, archive.attributes, max_part_bytes, () => onRead(0)),
    'the .dbf',
  )
  try {
    yield* readFeatures(archive, { shapes, attributes }, options)
  } finally {
    await shapes.close()
    await attributes.close()
  }
}

type ShapefileReaders = { readonly shapes: PieceReader; readonly attributes: PieceReader }

async function* readFeatures(
  { encoding, srs }: ShapefileArchive,
  { shapes, attributes }: ShapefileReaders,
  options: DataReadOptions,
): AsyncGenerator<DataBlock, void, undefined> {
  const header = await readDbaseHeader(attributes)
  await requireShapes(shapes)
  const columns = columnsOfDbase(header, encoding)
  const geometry = { name: geometry_column, stated: { type: 'text' } } as const
  const table = new FeatureTable([...columns, geometry], options)
  let hasBlock = false
  for (let number = 1; number <= header.rows; number++) {
    const record = await attributes.take(header.record_bytes)
    const shape = await takeShape(shapes, number)
    if (isDeleted(record)) table.skip()
    else table.add((at) => (at < columns.length ? columns[at]?.read(record) : readShape(shape, srs)))
    if (!table.isFull) continue
    hasBlock = true
    yield table.block()
    table.clear()
  }
  if (!(await shapes.isAtEnd()))
    throw new DataFault(`damaged: the .dbf has ${header.rows} rows, and the .shp more shapes`)
  await attributes.skipRest()
  if (table.rows > 0 || !hasBlock) yield table.block()
}

async function requireShapes(shapes: PieceReader): Promise<void> {
  const header = await shapes.take(shape_header_bytes)
  if (new DataView(header.buffer, header.byteOffset).getUint32(0) !== shape_code)
    throw new DataFault('damaged: its .shp does not begin as one')
}

/** The content of the next shape; undefined where it has more bytes than a record may have. */
async function takeShape(shapes: PieceReader, expected: number): Promise<Uint8Array | undefined> {
  const header = await shapes.take(record_header_bytes)
  const view = new DataView(header.buffer, header.byteOffset)
  const [number, length] = [view.getUint32(0), view.getUint32(4) * 2]
  if (number !== expected) throw new DataFault(`damaged: shape ${expected} of the .shp has the number ${number}`)
  if (length <= max_record_bytes) return await shapes.take(length)
  await shapes.skip(length)
  return undefined
}

function readShape(shape: Uint8Array | undefined, srs: string | undefined): string | undefined {
  if (!shape) throw new DataFault(`more than ${max_record_bytes} bytes`)
  return shapeTextOf(shape, srs)
}

// Reads a layer of a GeoPackage by blocks: one page of it is in memory. Geometries are GeoJSON, as in a file of that format.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { FeatureTable } from '../geometry/feature-table.ts'
import { geometry_column } from '../geometry/geometry-text.ts'
import type { RecordColumn } from '../record-table/record-table.ts'
import { attributeOf } from './attribute-types.ts'
import { geometryTextOf } from './geometry-blob.ts'
import { findLayer, type GeoPackageLayer, openGeoPackage } from './geopackage-layers.ts'
import type { SqliteValue } from './sqlite-record.ts'

/** The layers in the order of the file, and whether changes may be in another file beside it. Throws `DataFault`. */
export function listLayers(file: RangeSource): {
  readonly layers: readonly GeoPackageLayer[]
  readonly hasWriteAheadLog: boolean
} {
  const { tables, layers } = openGeoPackage(file)
  return { layers, hasWriteAheadLog: tables.hasWriteAheadLog }
}

type LayerColumn = RecordColumn & {
  readonly at: number
  read(value: SqliteValue): string | Uint8Array | undefined
}

/**
 * `layer`: its name, or its number from 1; the only one may be left out. The line of a record is its number. `onRead` receives the bytes that were read so far. Throws
 * `DataFault`, and what the file or `onReject` throws.
 */
export async function* readGeoPackage(
  file: RangeSource,
  layer: string | undefined,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const opened = openGeoPackage(file)
  const { name, geometryColumn, srs } = findLayer(opened, layer)
  const source = opened.tables.table(name)
  const attributes: LayerColumn[] = []
  const geometries: LayerColumn[] = []
  for (const [at, column] of source.columns.entries()) {
    if (column.name.toLowerCase() === geometryColumn?.toLowerCase())
      geometries.push({
        name: geometry_column,
        at,
        stated: { type: 'text' },
        read: (value) => readGeometry(value, srs),
      })
    else attributes.push({ name: column.name, at, ...attributeOf(column.type) })
  }
  if (geometryColumn !== undefined && geometries.length === 0)
    throw new DataFault(`damaged: the layer ${JSON.stringify(name)} has no column ${JSON.stringify(geometryColumn)}`)
  const columns = [...attributes, ...geometries]
  const table = new FeatureTable(columns, options)
  let pages = 0
  let hasBlock = false
  for (const value of source.rows(() => onRead(Math.min(file.size, ++pages * page_progress_bytes)))) {
    table.add((at) => {
      if (!value) throw new DataFault('a row of too many bytes')
      const column = columns[at]
      return column?.read(value(column.at))
    })
    if (!table.isFull) continue
    hasBlock = true
    yield table.block()
    table.clear()
  }
  if (table.rows > 0 || !hasBlock) yield table.block()
}

/** Pages of GeoPackages have usually so many bytes. */
const page_progress_bytes = 4_096

function readGeometry(value: SqliteValue, srs: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (!(value instanceof Uint8Array)) throw new DataFault('a value that is not a geometry')
  return geometryTextOf(value, srs)
}

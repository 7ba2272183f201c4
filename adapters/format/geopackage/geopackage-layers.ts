// The layers of a GeoPackage (OGC 12-128r19): tables of features and of attributes, and the reference system of their coordinates.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { SqliteValue } from './sqlite-record.ts'
import { SqliteTables } from './sqlite-tables.ts'

export type GeoPackageLayer = {
  /** Also of its table. */
  readonly name: string
  /** Undefined for a table of attributes. */
  readonly geometryColumn: string | undefined
  /** Undefined for longitude and latitude of WGS 84, and where nothing is known. */
  readonly srs: string | undefined
}

export type GeoPackage = { readonly tables: SqliteTables; readonly layers: readonly GeoPackageLayer[] }

const [contents, geometry_columns, systems] = ['gpkg_contents', 'gpkg_geometry_columns', 'gpkg_spatial_ref_sys']
const max_entries = 10_000
/** Codes of EPSG for longitude and latitude of WGS 84, without a height and with one. */
const wgs84_codes = new Set(['4326', '4979'])
const max_organization_characters = 64
const max_name_length = 1_024
const max_named_layers = 20

/** Throws `DataFault`, and what the file throws. */
export function openGeoPackage(file: RangeSource): GeoPackage {
  const tables = new SqliteTables(file)
  if (!tables.has(contents)) throw new DataFault('a database of SQLite, and not a GeoPackage: it has no gpkg_contents')
  const entries = readEntries(tables, contents, ['table_name', 'data_type'])
  const isFeatures = entries.some(({ data_type }) => data_type === 'features')
  const geometries = isFeatures ? readGeometries(tables) : new Map<string, GeometryEntry>()
  const names = isFeatures ? readSystems(tables) : new Map<string, string | undefined>()
  const layers = entries.flatMap(({ table_name, data_type }): GeoPackageLayer[] => {
    const name = String(table_name)
    if (data_type === 'attributes') return [{ name, geometryColumn: undefined, srs: undefined }]
    if (data_type !== 'features') return []
    const geometry = geometries.get(name.toLowerCase())
    if (!geometry) throw new DataFault(`damaged: the layer ${JSON.stringify(name)} has no column of geometries`)
    const id = String(geometry.srs_id)
    return [{ name, geometryColumn: String(geometry.column_name), srs: names.has(id) ? names.get(id) : `srs_id:${id}` }]
  })
  return { tables, layers }
}

/** The layer with this name, or number from 1; the only one where none is stated. Throws `DataFault`. */
export function findLayer({ layers }: GeoPackage, wanted: string | undefined): GeoPackageLayer {
  const [only] = layers
  if (!only) throw new DataFault('the GeoPackage has no layer of features or attributes')
  if (wanted === undefined && layers.length === 1) return only
  const found = layers.find(({ name }) => name === wanted) ?? layers[Number(wanted) - 1]
  if (found) return found
  const names = layers.slice(0, max_named_layers).map(({ name }, at) => `${at + 1} ${JSON.stringify(name)}`)
  const named = `${names.join(', ')}${layers.length > max_named_layers ? ', ...' : ''}`
  if (wanted === undefined) throw new DataFault(`the GeoPackage has several layers, and none is named: ${named}`)
  throw new DataFault(`the GeoPackage has no layer ${JSON.stringify(wanted)}; it has ${named}`)
}

type GeometryEntry = { readonly column_name: SqliteValue; readonly srs_id: SqliteValue }

/** By the name of their table in lower case. */
function readGeometries(tables: SqliteTables): Map<string, GeometryEntry> {
  const entries = readEntries(tables, geometry_columns, ['table_name', 'column_name', 'srs_id'])
  return new Map(entries.map((entry) => [String(entry.table_name).toLowerCase(), entry]))
}

/** Names by the id of the file. Coordinates of ids below 1 have no place on the earth that is known. */
function readSystems(tables: SqliteTables): Map<string, string | undefined> {
  const entries = readEntries(tables, systems, ['srs_id', 'organization', 'organization_coordsys_id'])
  const named = entries.map(({ srs_id, organization, organization_coordsys_id: code }) => {
    const name = String(organization).toUpperCase().slice(0, max_organization_characters)
    const isUsual = name === 'EPSG' && wgs84_codes.has(String(code))
    return [String(srs_id), isUsual ? undefined : `${name}:${code}`] as const
  })
  return new Map([...named, ['0', undefined], ['-1', undefined]])
}

function readEntries<Name extends string>(
  tables: SqliteTables,
  name: string,
  columns: readonly Name[],
): Record<Name, SqliteValue>[] {
  const table = tables.table(name)
  const places = columns.map((wanted) => {
    const at = table.columns.findIndex((column) => column.name.toLowerCase() === wanted)
    if (at < 0) throw new DataFault(`damaged: ${name} has no column ${wanted}`)
    return at
  })
  const entries: Record<Name, SqliteValue>[] = []
  for (const value of table.rows(() => undefined)) {
    if (!value || entries.length === max_entries) throw new DataFault(`damaged: ${name} is too large`)
    const values = columns.map((column, at) => [column, value(places[at] ?? 0)] as const)
    if (values.some(([, each]) => isLong(each))) throw new DataFault(`damaged: ${name} has a name that is too long`)
    entries.push(Object.fromEntries(values) as Record<Name, SqliteValue>)
  }
  return entries
}

/** Names are in messages, in the description of a dataset, and in each geometry. */
function isLong(value: SqliteValue): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length > max_name_length
}

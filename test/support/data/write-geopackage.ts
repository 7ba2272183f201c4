// Writes GeoPackages in memory by the SQLite of Node: the tables that every one has, and those of a test.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const standard = `
  CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT, srs_id INTEGER);
  CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT,
    srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk PRIMARY KEY (table_name, column_name));
  CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
    organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL);
  INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, ''), ('UTM 32', 25832, 'epsg', 25832, '');`

/** Lists the table as a layer; `geometry` is the name of its column of geometries. */
export function listLayer(table: string, geometry?: { readonly column: string; readonly srs_id: number }): string {
  const contents = `INSERT INTO gpkg_contents VALUES ('${table}', '${geometry ? 'features' : 'attributes'}', '${table}', 0);`
  if (!geometry) return contents
  return `${contents} INSERT INTO gpkg_geometry_columns VALUES ('${table}', '${geometry.column}', 'GEOMETRY', ${geometry.srs_id}, 2, 2);`
}

/** `statements`: SQL, or actions on the open database. `before`: pragmas of an empty file. */
export function writeGeoPackage(
  statements: readonly (string | ((db: DatabaseSync) => void))[],
  before = '',
): Uint8Array {
  const folder = mkdtempSync(path.join(tmpdir(), 'geopackage-'))
  try {
    const file = path.join(folder, 'made.gpkg')
    const db = new DatabaseSync(file)
    db.exec(`${before} BEGIN; ${standard}`)
    for (const each of statements) {
      if (typeof each === 'string') db.exec(each)
      else each(db)
    }
    db.exec('COMMIT')
    db.close()
    return Uint8Array.from(readFileSync(file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Well-known binary of a type and the parts of its body: numbers are doubles, `{count}` a count, bytes as they are. */
export function encodeWkb(
  type: number,
  body: readonly (number | { readonly count: number } | Uint8Array)[],
  isLittle = true,
): Uint8Array {
  const number = (write: (view: DataView) => void, bytes: number) => {
    const view = new DataView(new ArrayBuffer(bytes))
    write(view)
    return new Uint8Array(view.buffer)
  }
  const parts = body.map((part) => {
    if (part instanceof Uint8Array) return part
    if (typeof part === 'number') return number((view) => view.setFloat64(0, part, isLittle), 8)
    return number((view) => view.setUint32(0, part.count, isLittle), 4)
  })
  return Buffer.concat(
    [[isLittle ? 1 : 0], number((view) => view.setUint32(0, type, isLittle), 4), ...parts].map((each) =>
      Uint8Array.from(each),
    ),
  )
}

/** The geometry of a GeoPackage without an envelope. */
export function encodeGeometry(wkb: Uint8Array, flags = 1, envelope: Uint8Array = new Uint8Array(0)): Uint8Array {
  return Buffer.concat([Uint8Array.from([0x47, 0x50, 0, flags, 0, 0, 0, 0]), envelope, wkb])
}

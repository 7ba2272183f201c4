// GeoPackages whose pages and lists would take more memory or time than their bytes.
import { expect, test } from 'vitest'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { listLayer, writeGeoPackage } from '../../../test/support/data/write-geopackage.ts'
import { listLayers, readGeoPackage } from './read-geopackage.ts'

const read = async (bytes: Uint8Array) =>
  await listRows(readGeoPackage(memoryRanges(bytes), undefined, { limits: usualLimits, isSelected: () => true }))

test('rows that share the bytes of a page end the reading', async () => {
  const page_bytes = 65_536
  const made = writeGeoPackage(
    ['CREATE TABLE t (a BLOB)', (db) => db.exec("INSERT INTO t VALUES (x'0123456789')"), listLayer('t')],
    `PRAGMA page_size = ${page_bytes};`,
  )
  const bytes = Buffer.from(made)
  const blob = bytes.indexOf('0123456789', 0, 'hex')
  const page = blob - (blob % page_bytes)
  const [rows, blob_bytes, cell_bytes] = [1_000, 30_000, 9]
  bytes.writeUInt16BE(rows, page + 3)
  for (let row = 0; row < rows; row++) {
    const at = 8 + rows * 2 + row * cell_bytes
    const cell = [...varint(blob_bytes + 4), ...varint(row + 1).slice(-2), 4, ...varint(blob_bytes * 2 + 12)]
    bytes.set(cell.slice(0, cell_bytes), page + at)
    bytes.writeUInt16BE(at, page + 8 + row * 2)
  }
  await expect(read(bytes)).rejects.toThrow('damaged: the rows of a page overlap')
})

/** Of three bytes. */
function varint(value: number): number[] {
  return [(value >> 14) | 0x80, ((value >> 7) & 0x7f) | 0x80, value & 0x7f]
}

test('a schema of more bytes than a record may have is refused', () => {
  const column = (at: number) => `/*${'x'.repeat(900_000)}*/ c${at} TEXT`
  const tables = Array.from({ length: 20 }, (_, at) => `CREATE TABLE t${at} (${column(at)})`)
  expect(() => listLayers(memoryRanges(writeGeoPackage(tables)))).toThrow('damaged: its schema is too large')
})

test.each([
  ['a layer', `INSERT INTO gpkg_contents VALUES (printf('%.2000c', 'x'), 'attributes', '', 0)`],
  [
    'a code of a reference system',
    `CREATE TABLE t (g BLOB); ${listLayer('t', { column: 'g', srs_id: 7 })}
     INSERT INTO gpkg_spatial_ref_sys VALUES ('', 7, 'EPSG', printf('%.2000c', 'x'), '')`,
  ],
])('a name of %s that is too long for messages is refused', (_, statement) => {
  expect(() => listLayers(memoryRanges(writeGeoPackage([statement])))).toThrow('has a name that is too long')
})

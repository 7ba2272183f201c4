// Geometries of GeoPackages as GeoJSON: every type and dimension, and blobs that lie about what they have.
import { expect, test } from 'vitest'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { encodeGeometry, encodeWkb } from '../../../test/support/data/write-geopackage.ts'
import { geometryTextOf } from './geometry-blob.ts'

const of = (count: number) => ({ count })
const textOf = (wkb: Uint8Array) => geometryTextOf(encodeGeometry(wkb), undefined)
const point = encodeWkb(1, [1, 2])
const line = encodeWkb(2, [of(2), 0, 0, 1, 1.5])
const polygon = encodeWkb(3, [of(2), of(3), 0, 0, 1, 0, 0, 0, of(1), 5, 6])

test.each<[what: string, wkb: Uint8Array, text: string]>([
  ['point', point, '{"type":"Point","coordinates":[1,2]}'],
  ['point in the other byte order', encodeWkb(1, [1, -2.5], false), '{"type":"Point","coordinates":[1,-2.5]}'],
  ['point with a height', encodeWkb(1001, [1, 2, 3]), '{"type":"Point","coordinates":[1,2,3]}'],
  ['point with a measure', encodeWkb(2001, [1, 2, 3]), '{"type":"Point","coordinates":[1,2]}'],
  ['point with both', encodeWkb(3001, [1, 2, 3, 4]), '{"type":"Point","coordinates":[1,2,3]}'],
  ['empty point', encodeWkb(1, [Number.NaN, Number.NaN]), '{"type":"Point","coordinates":[]}'],
  ['line', line, '{"type":"LineString","coordinates":[[0,0],[1,1.5]]}'],
  [
    'line with measures',
    encodeWkb(2002, [of(2), 0, 0, 9, 1, 1, 9]),
    '{"type":"LineString","coordinates":[[0,0],[1,1]]}',
  ],
  ['polygon', polygon, '{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]],[[5,6]]]}'],
  ['empty polygon', encodeWkb(3, [of(0)]), '{"type":"Polygon","coordinates":[]}'],
  ['points', encodeWkb(4, [of(2), point, point]), '{"type":"MultiPoint","coordinates":[[1,2],[1,2]]}'],
  ['lines', encodeWkb(5, [of(1), line]), '{"type":"MultiLineString","coordinates":[[[0,0],[1,1.5]]]}'],
  ['polygons', encodeWkb(6, [of(1), polygon]), '{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[0,0]],[[5,6]]]]}'],
  [
    'collection of mixed dimensions',
    encodeWkb(1007, [of(2), encodeWkb(7, [of(1), line]), encodeWkb(1001, [1, 2, 3])]),
    '{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0],[1,1.5]]}]},{"type":"Point","coordinates":[1,2,3]}]}',
  ],
])('a %s', (_, wkb, text) => {
  expect(textOf(wkb)).toBe(text)
})

test.each([
  [0, 0],
  [1, 32],
  [2, 48],
  [3, 48],
  [4, 64],
])('an envelope of kind %s has %s bytes', (kind, bytes) => {
  const blob = encodeGeometry(point, 1 | (kind << 1), new Uint8Array(bytes).fill(0xff))
  expect(geometryTextOf(blob, undefined)).toBe('{"type":"Point","coordinates":[1,2]}')
})

const nested = (depth: number): Uint8Array => (depth === 0 ? point : encodeWkb(7, [of(1), nested(depth - 1)]))

test.each<[what: string, blob: Uint8Array, fault: string]>([
  ['nothing', new Uint8Array(0), 'no geometry of a GeoPackage'],
  ['another beginning', Buffer.from('no geometry at all'), 'no geometry of a GeoPackage'],
  ['a header alone', encodeGeometry(new Uint8Array(0)), 'it ends too early'],
  ['an envelope of an unknown kind', encodeGeometry(point, 1 | (5 << 1)), 'of an unknown kind'],
  ['an envelope beyond the end', encodeGeometry(new Uint8Array(0), 1 | (4 << 1)), 'it ends too early'],
  ['an extension', encodeGeometry(point, 1 | 0x20), 'of an extension'],
  ['a point that is cut', encodeGeometry(point.subarray(0, -1)), 'it ends too early'],
  ['bytes behind its end', encodeGeometry(Buffer.concat([point, point])), 'bytes behind its end'],
  ['a curve', encodeGeometry(encodeWkb(8, [of(0)])), 'of type 8, which GeoJSON does not have'],
  ['an unknown type', encodeGeometry(encodeWkb(0xffff_ffff, [])), 'of type 4294967295'],
  ['four billion points', encodeGeometry(encodeWkb(2, [of(0xffff_ffff), 0, 0])), 'it ends too early'],
  ['four billion rings', encodeGeometry(encodeWkb(3, [of(0xffff_ffff), of(0)])), 'it ends too early'],
  ['four billion parts', encodeGeometry(encodeWkb(7, [of(0xffff_ffff), point])), 'it ends too early'],
  ['a part of another type', encodeGeometry(encodeWkb(4, [of(1), line])), 'a part of another type'],
  [
    'a collection among polygons',
    encodeGeometry(encodeWkb(6, [of(1), encodeWkb(7, [of(0)])])),
    'a part of another type',
  ],
  ['collections of a hundred levels', encodeGeometry(nested(100)), 'nested too deeply'],
  ['an infinite coordinate', encodeGeometry(encodeWkb(1, [1, Number.POSITIVE_INFINITY])), 'that is not a number'],
  ['a line without numbers', encodeGeometry(encodeWkb(2, [of(1), Number.NaN, Number.NaN])), 'that is not a number'],
])('%s is refused', (_, blob, fault) => {
  expect(() => geometryTextOf(blob, undefined)).toThrow(DataFault)
  expect(() => geometryTextOf(blob, undefined)).toThrow(fault)
})

test('a text of more bytes than a record may have is refused', () => {
  const count = 400_000
  const wide = Array.from({ length: count * 2 }, () => -1 / 3e300)
  expect(() => textOf(encodeWkb(2, [of(count), ...wide]))).toThrow('more than 16777216 bytes of GeoJSON')
})

test('whatever bytes are altered, a geometry is JSON or a fault of data', () => {
  const whole = encodeGeometry(encodeWkb(7, [of(4), point, polygon, encodeWkb(6, [of(1), polygon]), nested(3)]))
  let readable = 0
  for (const { altered, describe } of alterBytes(whole, 3_000)) {
    try {
      expect(JSON.parse(geometryTextOf(altered, 'EPSG:1')), describe).toHaveProperty('type')
      readable++
    } catch (error) {
      expect(error, describe).toBeInstanceOf(DataFault)
    }
  }
  expect(readable).toBeGreaterThan(0)
})

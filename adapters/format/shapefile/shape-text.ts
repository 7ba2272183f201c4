// A shape (ESRI Shapefile Technical Description, July 1998) as the text of GeoJSON. Measures (M) are left out.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { GeometryText } from '../geometry/geometry-text.ts'
import { groupRings } from './ring-groups.ts'

type ShapeForm = { readonly kind: 'none' | 'point' | 'points' | 'lines' | 'rings'; readonly hasZ: boolean }

const forms: Readonly<Record<number, ShapeForm>> = {
  0: { kind: 'none', hasZ: false },
  1: { kind: 'point', hasZ: false },
  3: { kind: 'lines', hasZ: false },
  5: { kind: 'rings', hasZ: false },
  8: { kind: 'points', hasZ: false },
  11: { kind: 'point', hasZ: true },
  13: { kind: 'lines', hasZ: true },
  15: { kind: 'rings', hasZ: true },
  18: { kind: 'points', hasZ: true },
  21: { kind: 'point', hasZ: false },
  23: { kind: 'lines', hasZ: false },
  25: { kind: 'rings', hasZ: false },
  28: { kind: 'points', hasZ: false },
}

/** Type and bounding box, before the counts. */
const [type_bytes, box_bytes, position_bytes] = [4, 32, 16]

/** `content`: of the record, behind its header. Undefined for a shape without a geometry. Throws `DataFault`. */
export function shapeTextOf(content: Uint8Array, srs: string | undefined): string | undefined {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  requireBytes(view, type_bytes)
  const type = view.getInt32(0, true)
  const form = forms[type]
  if (!form) throw new DataFault(`a shape of type ${type}, which GeoJSON does not have`)
  const { kind, hasZ } = form
  if (kind === 'none') return undefined
  const text = new GeometryText()
  if (kind === 'point') {
    requireBytes(view, type_bytes + position_bytes + (hasZ ? 8 : 0))
    text.open('Point', srs)
    const z = hasZ ? readDouble(view, type_bytes + position_bytes) : undefined
    text.addPosition(readDouble(view, type_bytes), readDouble(view, type_bytes + 8), z)
  } else if (kind === 'points') {
    const points = readPoints(view, type_bytes + box_bytes, 0, hasZ)
    text.open('MultiPoint', srs)
    addPoints(text, points, { start: 0, end: points.count })
  } else addParts(text, readParts(view, hasZ), { kind, srs })
  text.close()
  return text.toString()
}

/** Positions of a shape, which are read when they are wanted. */
export type ShapePoints = {
  readonly count: number
  x(at: number): number
  y(at: number): number
  z?(at: number): number
}
/** Points of a part; `end` is not one of them. */
export type ShapePart = { readonly start: number; readonly end: number; readonly isReversed?: boolean }

/** `at`: of the count of points, behind which `gap` bytes come before them. */
function readPoints(view: DataView, at: number, gap: number, hasZ: boolean): ShapePoints {
  requireBytes(view, at + 4)
  const count = view.getUint32(at, true)
  const start = at + 4 + gap
  const end = start + count * position_bytes
  // The least and the greatest height come before the heights.
  requireBytes(view, hasZ ? end + 16 + count * 8 : end)
  return {
    count,
    x: (index) => readDouble(view, start + index * position_bytes),
    y: (index) => readDouble(view, start + index * position_bytes + 8),
    ...(hasZ && { z: (index: number) => readDouble(view, end + 16 + index * 8) }),
  }
}

type ShapeParts = { readonly points: ShapePoints; readonly parts: readonly ShapePart[] }

function readParts(view: DataView, hasZ: boolean): ShapeParts {
  const at = type_bytes + box_bytes
  requireBytes(view, at + 8)
  const count = view.getUint32(at, true)
  requireBytes(view, at + 8 + count * 4)
  const points = readPoints(view, at + 4, count * 4, hasZ)
  if (count > points.count) throw new DataFault('a damaged shape: it has more parts than points')
  const startOf = (part: number) => (part === count ? points.count : view.getUint32(at + 8 + part * 4, true))
  const parts = Array.from({ length: count }, (_, part) => ({ start: startOf(part), end: startOf(part + 1) }))
  if (parts.some(({ start, end }) => start > end)) throw new DataFault('a damaged shape: its parts are not in order')
  return { points, parts }
}

function addParts(
  text: GeometryText,
  { points, parts }: ShapeParts,
  { kind, srs }: { readonly kind: 'lines' | 'rings'; readonly srs: string | undefined },
): void {
  const [only] = parts
  if (kind === 'lines') {
    const isOne = only !== undefined && parts.length === 1
    text.open(isOne ? 'LineString' : 'MultiLineString', srs)
    if (isOne) addPoints(text, points, only)
    else text.addList(parts.length, (at) => addPoints(text, points, parts[at]))
    return
  }
  const polygons = groupRings(points, parts)
  const addPolygon = (rings: readonly ShapePart[] = []) =>
    text.addList(rings.length, (at) => addPoints(text, points, rings[at]))
  text.open(polygons.length === 1 ? 'Polygon' : 'MultiPolygon', srs)
  if (polygons.length === 1) addPolygon(polygons[0])
  else text.addList(polygons.length, (at) => addPolygon(polygons[at]))
}

function addPoints(text: GeometryText, points: ShapePoints, part: ShapePart = { start: 0, end: 0 }): void {
  const { start, end, isReversed } = part
  text.addList(end - start, (index) => {
    const at = isReversed ? end - 1 - index : start + index
    text.addPosition(points.x(at), points.y(at), points.z?.(at))
  })
}

function readDouble(view: DataView, at: number): number {
  return view.getFloat64(at, true)
}

function requireBytes(view: DataView, bytes: number): void {
  if (bytes > view.byteLength) throw new DataFault('a damaged shape: it ends too early')
}

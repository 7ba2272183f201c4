// The rings of a shape as polygons: outer rings are clockwise, and a hole belongs to the smallest outer ring around it.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ShapePart, ShapePoints } from './shape-text.ts'

type Ring = ShapePart & { readonly area: number; readonly box: readonly [number, number, number, number] }

/** Edges and boxes that are compared for one shape: some seconds. */
const max_comparisons = 100_000_000
/** Of one shape: each takes some hundred bytes of memory. */
const max_rings = 100_000

/**
 * Returns the rings of each polygon, the outer one first, each in the direction that GeoJSON has (RFC 7946: outer rings are
 * counterclockwise). A hole outside of all outer rings is a polygon. Throws `DataFault` for holes that would take too long to assign.
 */
export function groupRings(points: ShapePoints, parts: readonly ShapePart[]): readonly (readonly ShapePart[])[] {
  const filled = parts.filter(({ start, end }) => end > start)
  if (filled.length > max_rings) throw new DataFault('a shape of too many rings')
  const rings = filled.map((part) => measureRing(points, part))
  const isOuter = ({ area }: Ring) => area <= 0
  const outers = rings.filter(isOuter).map((ring) => ({ ring, holes: [] as ShapePart[] }))
  const holes = rings.filter((ring) => !isOuter(ring))
  const alone: ShapePart[] = []
  let comparisons = 0
  const compare = (count: number) => {
    comparisons += count
    if (comparisons > max_comparisons) throw new DataFault('a shape of too many rings')
  }
  for (const hole of holes) {
    let found: (typeof outers)[number] | undefined = outers.length === 1 ? outers[0] : undefined
    for (const outer of outers.length === 1 ? [] : outers) {
      compare(1)
      if (!containsBox(outer.ring, hole) || (found && found.ring.area > outer.ring.area)) continue
      if (containsRing(points, { outer: outer.ring, inner: hole }, compare)) found = outer
    }
    if (found) found.holes.push(reverse(hole))
    else alone.push(hole)
  }
  return [...outers.map(({ ring, holes: own }) => [reverse(ring), ...own]), ...alone.map((ring) => [ring])]
}

function reverse({ start, end }: ShapePart): ShapePart {
  return { start, end, isReversed: true }
}

/** The area is negative for a clockwise ring. */
function measureRing(points: ShapePoints, { start, end }: ShapePart): Ring {
  let area = 0
  const box: [number, number, number, number] = [points.x(start), points.y(start), points.x(start), points.y(start)]
  // Relative to the first point, so that large coordinates keep their digits.
  const [x0, y0] = [box[0], box[1]]
  for (let at = start; at < end; at++) {
    const next = at + 1 === end ? start : at + 1
    const [x, y] = [points.x(at), points.y(at)]
    area += (x - x0) * (points.y(next) - y0) - (points.x(next) - x0) * (y - y0)
    if (x < box[0]) box[0] = x
    if (y < box[1]) box[1] = y
    if (x > box[2]) box[2] = x
    if (y > box[3]) box[3] = y
  }
  return { start, end, area, box }
}

function containsBox({ box: outer }: Ring, { box: inner }: Ring): boolean {
  return outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

/** By the first point of the inner ring that is not on the outer one: rings may touch. */
function containsRing(
  points: ShapePoints,
  { outer, inner }: { readonly outer: Ring; readonly inner: Ring },
  compare: (count: number) => void,
): boolean {
  for (let point = inner.start; point < inner.end; point++) {
    compare(outer.end - outer.start)
    const isWithin = containsPoint(points, outer, point)
    if (isWithin !== undefined) return isWithin
  }
  return true
}

/** By the number of edges on one side of the point; undefined for a point on an edge. */
function containsPoint(points: ShapePoints, { start, end }: Ring, point: number): boolean | undefined {
  const [x, y] = [points.x(point), points.y(point)]
  let isWithin = false
  for (let at = start, before = end - 1; at < end; before = at++) {
    const [ax, ay, bx, by] = [points.x(at), points.y(at), points.x(before), points.y(before)]
    if ((ax === x && ay === y) || (ay === y && by === y && ax > x !== bx > x)) return undefined
    if (ay > y === by > y) continue
    const crossing = ((bx - ax) * (y - ay)) / (by - ay) + ax
    if (x === crossing) return undefined
    if (x < crossing) isWithin = !isWithin
  }
  return isWithin
}

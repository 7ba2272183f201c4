// Places the records of a cluster in the plane: linked records near each other, by forces, from a fixed start.

export type LayoutEdge = { readonly from: number; readonly to: number; readonly height: number }
export type LayoutPoint = { readonly x: number; readonly y: number }

const rounds = 200
/** Unlinked pairs attract less than linked ones. */
const weak_pull = 0.15

/** Places `count` points within a square of side 1; the same edges give the same places. Fruchterman and Reingold, 1991. */
export function layOutCluster(count: number, edges: readonly LayoutEdge[]): LayoutPoint[] {
  const xs = Float64Array.from({ length: count }, (_, at) => Math.cos((2 * Math.PI * at) / count))
  const ys = Float64Array.from({ length: count }, (_, at) => Math.sin((2 * Math.PI * at) / count))
  const ideal = 2 / Math.sqrt(Math.max(1, count))
  for (let step = 0; step < rounds; step++) {
    const [dx, dy] = [new Float64Array(count), new Float64Array(count)]
    const push = (one: number, other: number, forceOf: (distance: number) => number) => {
      const [x, y] = [xs[one]! - xs[other]!, ys[one]! - ys[other]!]
      const distance = Math.max(0.01, Math.hypot(x, y))
      const force = forceOf(distance) / distance
      dx[one]! += x * force
      dy[one]! += y * force
      dx[other]! -= x * force
      dy[other]! -= y * force
    }
    for (let one = 0; one < count; one++)
      for (let other = one + 1; other < count; other++) push(one, other, (distance) => ideal ** 2 / distance)
    for (const { from, to, height } of edges)
      push(from, to, (distance) => (-(distance ** 2) / ideal) * (height > 0 ? 1 : weak_pull))
    const heat = 0.2 * (1 - step / rounds)
    for (let at = 0; at < count; at++) {
      const length = Math.max(1e-9, Math.hypot(dx[at]!, dy[at]!))
      xs[at]! += (dx[at]! / length) * Math.min(length, heat)
      ys[at]! += (dy[at]! / length) * Math.min(length, heat)
    }
  }
  const [scaleX, scaleY] = [fitToUnit(xs), fitToUnit(ys)]
  return Array.from(xs, (x, at) => ({ x: scaleX(x), y: scaleY(ys[at]!) }))
}

function fitToUnit(values: Float64Array): (value: number) => number {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return (value) => (most - least < 1e-6 ? 0.5 : (value - least) / (most - least))
}

// Sets of points as sent: sorted, so that their order does not reveal the order of the records.
import { point_bytes } from '../../../../kernel/cryptography/blinding.ts'

/**
 * Sorts items by their bytes. `order[i]`: the former position of item `i`. Blinded points look random without the
 * secret, so sorting is a shuffle that a restart repeats.
 */
export function sortPoints(
  items: Uint8Array,
  width: number,
): { readonly sorted: Uint8Array; readonly order: Int32Array } {
  const from = Buffer.from(items.buffer, items.byteOffset, items.byteLength)
  const count = items.length / width
  const order = Int32Array.from({ length: count }, (_, at) => at).sort((a, b) =>
    from.compare(from, b * width, (b + 1) * width, a * width, (a + 1) * width),
  )
  const sorted = new Uint8Array(items.length)
  for (const [at, before] of order.entries())
    sorted.set(items.subarray(before * width, (before + 1) * width), at * width)
  return { sorted, order }
}

/**
 * Returns the reason why this is not a valid set of `count` points; undefined for a valid set. Strictly ascending
 * points are distinct: a repeated value would let its sender query more than agreed, or fit a smaller budget.
 */
export function findPointSetFault(points: Uint8Array, count: number): string | undefined {
  if (points.length !== count * point_bytes)
    return `the set has ${points.length} bytes, and ${count} points have ${count * point_bytes}`
  const bytes = Buffer.from(points.buffer, points.byteOffset, points.byteLength)
  for (let at = point_bytes; at < bytes.length; at += point_bytes) {
    if (bytes.compare(bytes, at, at + point_bytes, at - point_bytes, at) >= 0)
      return `point ${at / point_bytes} is not above the one before it`
  }
  return undefined
}

/**
 * Whether two ascending sets share a point. Independent secrets never give equal points, so one side returned points
 * that it received.
 */
export function sharesPoint(left: Uint8Array, right: Uint8Array): boolean {
  const [first, second] = [left, right].map((set) => Buffer.from(set.buffer, set.byteOffset, set.byteLength))
  if (!first || !second) return false
  let [at, to] = [0, 0]
  while (at < first.length && to < second.length) {
    const sign = first.compare(second, to, to + point_bytes, at, at + point_bytes)
    if (sign === 0) return true
    if (sign < 0) at += point_bytes
    else to += point_bytes
  }
  return false
}

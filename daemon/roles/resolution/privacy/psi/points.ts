// Sets of points as they travel: sorted, so that their order tells nothing of the order of the records behind them.
import { point_bytes } from '../../../../kernel/cryptography/blinding.ts'

/**
 * The same items ascending by their bytes. `order[i]`: the place before of what is now at `i`. Blinded points look
 * random to anyone without the secret, so that this is a shuffle, and one that a restart repeats.
 */
export function sortPoints(
  items: Uint8Array,
  width: number,
): { readonly sorted: Uint8Array; readonly order: Int32Array } {
  const from = Buffer.from(items.buffer, items.byteOffset, items.byteLength)
  const count = items.length / width
  const order = Int32Array.from({ length: count }, (_, at) => at).sort((one, other) =>
    from.compare(from, other * width, (other + 1) * width, one * width, (one + 1) * width),
  )
  const sorted = new Uint8Array(items.length)
  for (const [at, place] of order.entries()) sorted.set(items.subarray(place * width, (place + 1) * width), at * width)
  return { sorted, order }
}

/**
 * The reason why this is not a valid set of `count` points; undefined for a valid one. Strictly ascending points are
 * distinct: a repeated value would let its sender query more than was agreed, or fit a smaller budget.
 */
export function findPointSetFault(points: Uint8Array, count: number): string | undefined {
  if (points.length !== count * point_bytes)
    return `there are ${points.length} bytes where ${count} points have ${count * point_bytes}`
  const bytes = Buffer.from(points.buffer, points.byteOffset, points.byteLength)
  for (let at = point_bytes; at < bytes.length; at += point_bytes) {
    if (bytes.compare(bytes, at, at + point_bytes, at - point_bytes, at) >= 0)
      return `point ${at / point_bytes} is not above the one before it`
  }
  return undefined
}

/**
 * Whether two ascending sets have a point in common. Blinded apart they never do: one side gave back what it was sent.
 */
export function sharesPoint(left: Uint8Array, right: Uint8Array): boolean {
  const [one, other] = [left, right].map((set) => Buffer.from(set.buffer, set.byteOffset, set.byteLength))
  if (!one || !other) return false
  let [at, to] = [0, 0]
  while (at < one.length && to < other.length) {
    const sign = one.compare(other, to, to + point_bytes, at, at + point_bytes)
    if (sign === 0) return true
    if (sign < 0) at += point_bytes
    else to += point_bytes
  }
  return false
}

// Assigns records of two sources one to one, greedily by score.

/** Returns the indexes of the accepted pairs, best first; equal scores in the order of pairs. */
export function assignOneToOne(
  rows: number,
  { lefts, rights, length }: { readonly lefts: Int32Array; readonly rights: Int32Array; readonly length: number },
  scores: Float64Array,
): Int32Array {
  const order = Int32Array.from({ length }, (_, pair) => pair).sort((a, b) => scores[b]! - scores[a]! || a - b)
  const isTaken = new Uint8Array(rows)
  return order.filter((pair) => {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    if (isTaken[a] || isTaken[b]) return false
    isTaken[a] = 1
    isTaken[b] = 1
    return true
  })
}

// Similarity of vectors, and groups of which every two members are similar.

/** Of two vectors of one model; undefined for vectors that cannot be compared. */
export function cosine(left: readonly number[], right: readonly number[]): number | undefined {
  if (left.length !== right.length || left.length === 0) return undefined
  let [dot, ofLeft, ofRight] = [0, 0, 0]
  for (let at = 0; at < left.length; at += 1) {
    const [x, y] = [left[at] ?? 0, right[at] ?? 0]
    dot += x * y
    ofLeft += x * x
    ofRight += y * y
  }
  return ofLeft === 0 || ofRight === 0 ? undefined : dot / Math.sqrt(ofLeft * ofRight)
}

/** A vector of length 1, with the length of what is left of it after each block: by that most pairs are decided early. */
export type UnitVector = { readonly values: Float64Array; readonly rests: Float64Array }

const block = 32

export function toUnit(vector: readonly number[]): UnitVector | undefined {
  const length = Math.hypot(...vector)
  if (length === 0 || !Number.isFinite(length)) return undefined
  const values = Float64Array.from(vector, (value) => value / length)
  const rests = new Float64Array(Math.ceil(values.length / block))
  let sum = 0
  for (let of = rests.length - 1; of >= 0; of -= 1) {
    for (const value of values.subarray(of * block, (of + 1) * block)) sum += value * value
    rests[of] = Math.sqrt(sum)
  }
  return { values, rests }
}

/** Whether the cosine is at or above the threshold, by the inequality of Cauchy and Schwarz for the blocks not yet seen. */
export function isSimilar(left: UnitVector, right: UnitVector, threshold: number): boolean {
  const { length } = left.values
  if (length !== right.values.length) return false
  let dot = 0
  for (let from = 0, of = 0; from < length; from += block, of += 1) {
    if (dot + (left.rests[of] ?? 0) * (right.rests[of] ?? 0) < threshold - 1e-9) return false
    const to = Math.min(length, from + block)
    for (let at = from; at < to; at += 1) dot += (left.values[at] ?? 0) * (right.values[at] ?? 0)
  }
  return dot >= threshold - 1e-9
}

/** Well below a millisecond. */
const comparisons_per_step = 128

export type ClusterTerms = { readonly threshold: number; readonly max_size: number }

/**
 * Groups of at least two, in the order of their first members; each member is in one group, and every two of a group are
 * similar. Yields between comparisons, so that its caller can divide the work.
 */
export function* clusterVectors<T extends { readonly unit: UnitVector }>(
  members: readonly T[],
  { threshold, max_size }: ClusterTerms,
): Generator<undefined, T[][]> {
  const left = new Set(members)
  const groups: T[][] = []
  let compared = 0
  for (const first of members) {
    if (!left.delete(first)) continue
    const group = [first]
    for (const other of left) {
      if (group.length >= max_size) break
      let isMember = true
      for (const member of group) {
        compared += 1
        if (compared % comparisons_per_step === 0) yield
        isMember = isSimilar(member.unit, other.unit, threshold)
        if (!isMember) break
      }
      if (!isMember) continue
      group.push(other)
      left.delete(other)
    }
    if (group.length > 1) groups.push(group)
  }
  return groups
}

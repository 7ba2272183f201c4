// Values as sets of parts, and the overlap of two sets.

/** Sets by value: value `v` has the parts `parts[starts[v]]` to `parts[starts[v + 1]]`, as ascending distinct codes. */
export type ValueSets = { readonly starts: Uint32Array; readonly parts: Int32Array }

export function buildValueSets(values: readonly string[], partsOf: (value: string) => readonly string[]): ValueSets {
  const numbers = new Map<string, number>()
  const starts = new Uint32Array(values.length + 1)
  const parts: number[] = []
  for (const [at, value] of values.entries()) {
    const codes = new Set<number>()
    for (const part of partsOf(value)) {
      if (!numbers.has(part)) numbers.set(part, numbers.size)
      codes.add(numbers.get(part)!)
    }
    for (const number of [...codes].sort((a, b) => a - b)) parts.push(number)
    starts[at + 1] = parts.length
  }
  return { starts, parts: Int32Array.from(parts) }
}

/** Counts common parts. */
export function countCommonParts({ starts, parts }: ValueSets, a: number, b: number): number {
  let left = starts[a]!
  let right = starts[b]!
  const leftEnd = starts[a + 1]!
  const rightEnd = starts[b + 1]!
  let common = 0
  while (left < leftEnd && right < rightEnd) {
    const difference = parts[left]! - parts[right]!
    if (difference === 0) {
      common++
      left++
      right++
    } else if (difference < 0) left++
    else right++
  }
  return common
}

/**
 * Computes the overlap coefficient: common parts as a share of the smaller set; 1 if one set contains the other
 * (Szymkiewicz and Simpson).
 */
export function computeOverlap(sets: ValueSets, a: number, b: number): number {
  const { starts } = sets
  return countCommonParts(sets, a, b) / Math.min(starts[a + 1]! - starts[a]!, starts[b + 1]! - starts[b]!)
}

// Values as sets of parts, and the overlap of two sets.

/** The parts of value `v` are `parts[starts[v]]` to `parts[starts[v + 1]]`: part codes, ascending and distinct. */
export type ValueSets = { readonly starts: Uint32Array; readonly parts: Int32Array }

export function buildValueSets(values: readonly string[], partsOf: (value: string) => readonly string[]): ValueSets {
  const numbers = new Map<string, number>()
  const starts = new Uint32Array(values.length + 1)
  const parts: number[] = []
  for (const [at, value] of values.entries()) {
    const mine = new Set<number>()
    for (const part of partsOf(value)) {
      if (!numbers.has(part)) numbers.set(part, numbers.size)
      mine.add(numbers.get(part)!)
    }
    for (const number of [...mine].sort((a, b) => a - b)) parts.push(number)
    starts[at + 1] = parts.length
  }
  return { starts, parts: Int32Array.from(parts) }
}

/** Number of common parts. */
export function countCommonParts({ starts, parts }: ValueSets, a: number, b: number): number {
  let one = starts[a]!
  let other = starts[b]!
  const oneEnd = starts[a + 1]!
  const otherEnd = starts[b + 1]!
  let both = 0
  while (one < oneEnd && other < otherEnd) {
    const difference = parts[one]! - parts[other]!
    if (difference === 0) {
      both++
      one++
      other++
    } else if (difference < 0) one++
    else other++
  }
  return both
}

/**
 * Overlap coefficient: common parts as a share of the smaller set; 1 where one contains the other (Szymkiewicz and
 * Simpson).
 */
export function computeOverlap(sets: ValueSets, a: number, b: number): number {
  const { starts } = sets
  return countCommonParts(sets, a, b) / Math.min(starts[a + 1]! - starts[a]!, starts[b + 1]! - starts[b]!)
}

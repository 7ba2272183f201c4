// Population count: the number of set bits in a word.

/** Counts the set bits of a 32-bit word in parallel (Warren, Hacker's Delight, 5-1). */
export function popCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

// Edit distances and Jaro-Winkler on code units, bit-parallel where the shorter string fits into a word of 32 bits.

const word = 32
/** For each code unit, the positions of it in the pattern that was prepared last. */
const positions = new Int32Array(65_536)

let pattern: Uint16Array = new Uint16Array(0)
let from = 0
let length = 0

/** Makes a value the pattern; the kernels below compare others with it. Kept until another is prepared. */
function prepare(units: Uint16Array, start: number, end: number): void {
  if (pattern === units && from === start && length === Math.min(word, end - start)) return
  for (let at = 0; at < length; at++) positions[pattern[from + at]!] = 0
  pattern = units
  from = start
  length = Math.min(word, end - start)
  for (let at = 0; at < length; at++) positions[units[start + at]!]! |= 1 << at
}

/**
 * Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours, none of them touched twice.
 * `most + 1` stands for every distance above `most`. After Hyyrö, "A bit-vector algorithm for computing Levenshtein and
 * Damerau edit distances", 2003.
 */
export function alignment(
  a: Uint16Array,
  aStart: number,
  aEnd: number,
  b: Uint16Array,
  bStart: number,
  bEnd: number,
  most: number,
): number {
  const aLength = aEnd - aStart
  const bLength = bEnd - bStart
  if (Math.abs(aLength - bLength) > most) return most + 1
  if (aLength === 0 || bLength === 0) return Math.min(most + 1, aLength + bLength)
  if (aLength > word) {
    return bLength > word
      ? alignmentByTable(a, aStart, aEnd, b, bStart, bEnd, most)
      : alignment(b, bStart, bEnd, a, aStart, aEnd, most)
  }
  prepare(a, aStart, aEnd)
  const last = 1 << (aLength - 1)
  let distance = aLength
  let above = -1
  let below = 0
  let diagonal = 0
  let before = 0
  for (let at = bStart; at < bEnd; at++) {
    const same = positions[b[at]!]!
    const swapped = ((~diagonal & same) << 1) & before
    diagonal = ((((same & above) + above) | 0) ^ above) | same | below | swapped
    let right = below | ~(diagonal | above)
    const left = diagonal & above
    if (right & last) distance++
    else if (left & last) distance--
    right = (right << 1) | 1
    above = (left << 1) | ~(diagonal | right)
    below = right & diagonal
    before = same
  }
  return distance > most ? most + 1 : distance
}

/** The same by the table of the definition, for what does not fit into a word. */
function alignmentByTable(
  a: Uint16Array,
  aStart: number,
  aEnd: number,
  b: Uint16Array,
  bStart: number,
  bEnd: number,
  most: number,
): number {
  const width = bEnd - bStart + 1
  let two = new Int32Array(width)
  let one = Int32Array.from({ length: width }, (_, index) => index)
  let row = new Int32Array(width)
  for (let y = 1; y <= aEnd - aStart; y++) {
    row[0] = y
    let least = y
    const unit = a[aStart + y - 1]!
    for (let x = 1; x < width; x++) {
      const other = b[bStart + x - 1]!
      let cost = Math.min(one[x]! + 1, row[x - 1]! + 1, one[x - 1]! + (unit === other ? 0 : 1))
      const isSwap = y > 1 && x > 1 && unit === b[bStart + x - 2]! && a[aStart + y - 2]! === other
      if (isSwap) cost = Math.min(cost, two[x - 2]! + 1)
      row[x] = cost
      if (cost < least) least = cost
    }
    if (least > most) return most + 1
    const free = two
    two = one
    one = row
    row = free
  }
  return Math.min(most + 1, one[width - 1]!)
}

/**
 * Jaro-Winkler similarity from 0 to 1 with a prefix of at most four and a weight of .1, of at most the first 32 code units.
 * After Winkler, "String comparator metrics and enhanced decision rules", 1990.
 */
export function jaroWinkler(
  a: Uint16Array,
  aStart: number,
  aEnd: number,
  b: Uint16Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = Math.min(word, aEnd - aStart)
  const bLength = Math.min(word, bEnd - bStart)
  if (aLength === 0 || bLength === 0) return 0
  prepare(a, aStart, aEnd)
  const reach = Math.max(0, (Math.max(aLength, bLength) >> 1) - 1)
  let window = (1 << (reach + 1)) - 1
  let taken = 0
  let found = 0
  for (let at = 0; at < bLength; at++) {
    const same = positions[b[bStart + at]!]! & window & ~taken
    if (same !== 0) {
      taken |= same & -same
      found |= 1 << at
    }
    window = at < reach ? (window << 1) | 1 : window << 1
  }
  let matches = 0
  let swaps = 0
  for (let rest = found, mine = taken; rest !== 0; rest &= rest - 1, mine &= mine - 1) {
    matches++
    const at = 31 - Math.clz32(rest & -rest)
    if ((positions[b[bStart + at]!]! & mine & -mine) === 0) swaps++
  }
  if (matches === 0) return 0
  const jaro = (matches / aLength + matches / bLength + (matches - (swaps >> 1)) / matches) / 3
  let prefix = 0
  const most = Math.min(4, aLength, bLength)
  while (prefix < most && a[aStart + prefix] === b[bStart + prefix]) prefix++
  return jaro + prefix * 0.1 * (1 - jaro)
}

// Limits the characters of a value that a comparison reads, so that no value makes it slow.
import { max_compared_characters } from '../../lens/comparison.ts'
import type { Dictionary } from '../text/dictionary.ts'

/** Whether a comparison reads only the beginning of the value. */
export function isCapped(value: string): boolean {
  return value.length > max_compared_characters && findEnd(value.length, (at) => value.charCodeAt(at)) < value.length
}

/** Cuts long values to their first characters, under the same numbers; returns a dictionary without long values as it is. */
export function capValues(dictionary: Dictionary): Dictionary {
  const { size, units, starts } = dictionary
  const lengths = Uint32Array.from({ length: size }, (_, code) => {
    const start = starts[code]!
    return findEnd(starts[code + 1]! - start, (at) => units[start + at]!)
  })
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (total === starts[size]) return dictionary
  const capped = { size, units: new Uint16Array(total), starts: new Uint32Array(size + 1) }
  for (let code = 0; code < size; code++) {
    const [from, to] = [starts[code]!, capped.starts[code]!]
    capped.units.set(units.subarray(from, from + lengths[code]!), to)
    capped.starts[code + 1] = to + lengths[code]!
  }
  return capped
}

/** Finds the code unit after the last compared character; a surrogate pair is one character. */
function findEnd(length: number, unitAt: (at: number) => number): number {
  if (length <= max_compared_characters) return length
  let end = 0
  for (let count = 0; count < max_compared_characters && end < length; count++) {
    const isPair = isHighSurrogate(unitAt(end)) && end + 1 < length && isLowSurrogate(unitAt(end + 1))
    end += isPair ? 2 : 1
  }
  return end
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}

// Encodes records as bit vectors that are similar where the records are; without the key they reveal only this
// similarity.
import { hmacSha256 } from '../../../../kernel/cryptography/hmac-sha256.ts'
import type { LensRecords } from '../../engine/records/records.ts'
import { decodeText } from '../../engine/text/dictionary.ts'
import type { FieldType } from '../../lens/model.ts'
import { type ClkParameters, computeVectorLength, countFieldHashes } from './parameters.ts'

/**
 * Cryptographic long-term keys (Schnell, Bachteler and Reiher, 2009 and 2011): the grams of the fields set bits of one
 * Bloom filter. The places are those of an HMAC-SHA-256 of field and gram, two bytes each: independent, where the
 * common double hashing gives a gram away by the steps between its bits (Niedermeyer et al., 2014). With `fold` the
 * halves are added without carry (Schnell and Borgs, 2016). Row after row of `computeVectorLength` bits.
 */
export function encodeClk(
  { rows, fields }: Pick<LensRecords, 'rows' | 'fields'>,
  names: readonly string[],
  key: Uint8Array,
  parameters: ClkParameters,
): Uint32Array {
  const whole = parameters.length / 32
  const vectors = new Uint32Array(rows * whole)
  for (const { name, type, column } of fields) {
    if (!names.includes(name)) continue
    const placesOf = createGramHasher(key, name, countFieldHashes(parameters, name), parameters.length)
    const ofValue = new Map<number, readonly number[]>()
    for (let row = 0; row < rows; row++) {
      const code = column.codes[row]!
      if (code < 0) continue
      let set = ofValue.get(code)
      if (!set) {
        set = [...new Set(splitGrams(decodeText(column.dictionary, code), type, parameters.q).flatMap(placesOf))]
        ofValue.set(code, set)
      }
      for (const place of set) vectors[row * whole + (place >>> 5)]! |= 1 << (place & 31)
    }
  }
  return parameters.fold ? foldVectors(vectors, rows, whole, computeVectorLength(parameters) / 32) : vectors
}

/** Digits of dates and years with their places; the letters of all else in overlapping pieces, ends included. */
export function splitGrams(value: string, type: FieldType, q: number): string[] {
  if (value === '') return []
  if (type === 'date' || type === 'year') return Array.from(value, (digit, at) => `${at}${digit}`)
  const padded = [...' '.repeat(q - 1), ...value, ...' '.repeat(q - 1)]
  return Array.from({ length: padded.length - q + 1 }, (_, at) => padded.slice(at, at + q).join(''))
}

/** The places of a gram, found once. `length` is a power of two, so that all places are equally likely. */
function createGramHasher(
  key: Uint8Array,
  field: string,
  hashes: number,
  length: number,
): (gram: string) => readonly number[] {
  const known = new Map<string, readonly number[]>()
  return (gram) => {
    let found = known.get(gram)
    if (!found) {
      const digest = hmacSha256(key, `${field}\n${gram}`)
      found = Array.from({ length: hashes }, (_, at) => (digest[2 * at]! | (digest[2 * at + 1]! << 8)) & (length - 1))
      known.set(gram, found)
    }
    return found
  }
}

function foldVectors(vectors: Uint32Array, rows: number, whole: number, half: number): Uint32Array {
  const result = new Uint32Array(rows * half)
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < half; at++) {
      result[row * half + at] = vectors[row * whole + at]! ^ vectors[row * whole + half + at]!
    }
  }
  return result
}

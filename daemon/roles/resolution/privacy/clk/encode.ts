// Encodes records as bit vectors that are similar where the records are; without the key they reveal only this
// similarity.
import { hmacSha256 } from '../../../../kernel/cryptography/hmac-sha256.ts'
import type { LensRecords } from '../../engine/records/records.ts'
import { decodeText } from '../../engine/text/dictionary.ts'
import type { FieldType } from '../../lens/model.ts'
import { type ClkParameters, computeVectorLength, countFieldHashes } from './parameters.ts'

/**
 * Encodes cryptographic long-term keys (Schnell, Bachteler and Reiher, 2009 and 2011): the grams of the fields set bits
 * of one Bloom filter. The positions are an HMAC-SHA-256 of field and gram, two bytes each. They are independent; the
 * usual double hashing reveals a gram by the distances between its bits (Niedermeyer et al., 2014). With `fold` the
 * halves are added without carry (Schnell and Borgs, 2016). Returns rows of `computeVectorLength` bits.
 */
export function encodeClk(
  { rows, fields }: Pick<LensRecords, 'rows' | 'fields'>,
  names: readonly string[],
  key: Uint8Array,
  parameters: ClkParameters,
): Uint32Array {
  const words = parameters.length / 32
  const vectors = new Uint32Array(rows * words)
  for (const { name, type, column } of fields) {
    if (!names.includes(name)) continue
    const positionsOf = createGramHasher(key, name, countFieldHashes(parameters, name), parameters.length)
    const positionsByCode = new Map<number, readonly number[]>()
    for (let row = 0; row < rows; row++) {
      const code = column.codes[row]!
      if (code < 0) continue
      let positions = positionsByCode.get(code)
      if (!positions) {
        positions = [
          ...new Set(splitGrams(decodeText(column.dictionary, code), type, parameters.q).flatMap(positionsOf)),
        ]
        positionsByCode.set(code, positions)
      }
      for (const bit of positions) vectors[row * words + (bit >>> 5)]! |= 1 << (bit & 31)
    }
  }
  return parameters.fold ? foldVectors(vectors, rows, words, computeVectorLength(parameters) / 32) : vectors
}

/** Splits dates and years into digits with their positions, and other values into overlapping pieces, ends included. */
export function splitGrams(value: string, type: FieldType, q: number): string[] {
  if (value === '') return []
  if (type === 'date' || type === 'year') return Array.from(value, (digit, at) => `${at}${digit}`)
  const padded = [...' '.repeat(q - 1), ...value, ...' '.repeat(q - 1)]
  return Array.from({ length: padded.length - q + 1 }, (_, at) => padded.slice(at, at + q).join(''))
}

/** Creates a cached hash from a gram to its bits. `length` is a power of two, so that all bits are equally likely. */
function createGramHasher(
  key: Uint8Array,
  field: string,
  hashes: number,
  length: number,
): (gram: string) => readonly number[] {
  const cache = new Map<string, readonly number[]>()
  return (gram) => {
    let bits = cache.get(gram)
    if (!bits) {
      const digest = hmacSha256(key, `${field}\n${gram}`)
      bits = Array.from({ length: hashes }, (_, at) => (digest[2 * at]! | (digest[2 * at + 1]! << 8)) & (length - 1))
      cache.set(gram, bits)
    }
    return bits
  }
}

function foldVectors(vectors: Uint32Array, rows: number, words: number, half: number): Uint32Array {
  const result = new Uint32Array(rows * half)
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < half; at++) {
      result[row * half + at] = vectors[row * words + at]! ^ vectors[row * words + half + at]!
    }
  }
  return result
}

// Similarity of two different values of a field, as a level: 0 is reserved for equal values, higher levels are less
// similar.
import type { FieldType } from '../../lens/model.ts'
import { DictionaryBuilder, type DictionaryColumn, decodeText, mapColumn } from '../text/dictionary.ts'
import { computeSoundSignature, metaphone } from '../text/metaphone.ts'
import { StringMatcher } from '../text/string-matcher.ts'
import { createCodesLevels, createNumbersLevels } from './listed-levels.ts'

/**
 * Classifies two different values by code into a level from 1 to `count - 1`; 0 if they count as equal, -1 without
 * evidence.
 */
export type LevelClassifier = { readonly count: number; levelOf(a: number, b: number): number }

/** Creates the levels of a type that defines its own; other types use the levels of a comparator. */
export function createTypeLevels(type: FieldType, column: DictionaryColumn): LevelClassifier {
  switch (type) {
    case 'name':
    case 'place':
      return createNameLevels(column)
    case 'date':
      return createDateLevels(column)
    case 'code':
      return createCodeLevels(column)
    case 'email':
      return createEmailLevels(column)
    case 'number':
      return createNumberLevels(column)
    case 'category':
      return { count: 2, levelOf: () => 1 }
    case 'year':
      return createYearLevels(column)
    case 'codes':
      return createCodesLevels(column)
    case 'numbers':
      return createNumbersLevels(column)
    case 'text':
    case 'geo':
    case 'set':
      throw new RangeError(`${type} has no levels of its own`)
  }
}

/**
 * Creates a test for an equal sound. A signature excludes nearly all pairs, so that the sound of a value is computed
 * only when needed.
 */
function createSoundComparer({ dictionary }: DictionaryColumn): (a: number, b: number) => boolean {
  const { size, units, starts } = dictionary
  const builder = new DictionaryBuilder()
  const not_computed = -2
  const sounds = new Int32Array(size).fill(not_computed)
  const signatures = new Int32Array(size)
  for (let code = 0; code < size; code++)
    signatures[code] = computeSoundSignature(units, starts[code]!, starts[code + 1]!)
  const soundOf = (code: number) => {
    if (sounds[code] === not_computed) sounds[code] = builder.add(metaphone(decodeText(dictionary, code)))
    return sounds[code]!
  }
  return (a, b) => signatures[a] === signatures[b] && soundOf(a) >= 0 && soundOf(a) === soundOf(b)
}

/**
 * Names of people and places: a typing error, the same sound, a short form, then decreasing Jaro-Winkler similarity.
 */
function createNameLevels(column: DictionaryColumn): LevelClassifier {
  const matcher = new StringMatcher(column.dictionary)
  const isSameSound = createSoundComparer(column)
  return {
    count: 6,
    levelOf(a, b) {
      const least = Math.min(matcher.lengthOf(a), matcher.lengthOf(b))
      const winkler = matcher.jaroWinkler(a, b, 0.7)
      if (winkler >= 0.94) return 1
      const distance = matcher.distance(a, b, 2)
      if (distance <= 1 && least >= 4) return 1
      if (winkler >= 0.88 || (distance <= 1 && least >= 3)) return 2
      if (isSameSound(a, b)) return 2
      if (least >= 3 && matcher.commonPrefix(a, b, least) === least) return 2
      if (winkler >= 0.8 || (distance <= 2 && least >= 5)) return 3
      return winkler >= 0.7 ? 4 : 5
    },
  }
}

/** Identifiers and postal codes: one typing error, two, the same first half. */
function createCodeLevels({ dictionary }: DictionaryColumn): LevelClassifier {
  const matcher = new StringMatcher(dictionary)
  return {
    count: 5,
    levelOf(a, b) {
      const [aLength, bLength] = [matcher.lengthOf(a), matcher.lengthOf(b)]
      const least = Math.min(aLength, bLength)
      const distance = matcher.distance(a, b, 2)
      if (distance <= 1 && least >= 4) return 1
      if (distance <= 2 && least >= 6) return 2
      const half = Math.max(aLength, bLength) >> 1
      return half > 0 && half <= least && matcher.commonPrefix(a, b, half) === half ? 3 : 4
    },
  }
}

/** E-mail addresses: the same user, then the similarity of the whole address or of the user. */
function createEmailLevels(column: DictionaryColumn): LevelClassifier {
  const matcher = new StringMatcher(column.dictionary)
  const codes = Int32Array.from({ length: column.dictionary.size }, (_, code) => code)
  const users = mapColumn({ codes, dictionary: column.dictionary }, (value) => value.split('@')[0] ?? '')
  const userMatcher = new StringMatcher(users.dictionary)
  return {
    count: 5,
    levelOf(a, b) {
      const [aUser, bUser] = [users.codes[a]!, users.codes[b]!]
      if (aUser >= 0 && aUser === bUser) return 1
      const longest = Math.max(matcher.lengthOf(a), matcher.lengthOf(b))
      const distance = matcher.distance(a, b, floorFraction(longest, 0.25))
      if (distance <= floorFraction(longest, 0.12)) return 1
      if (distance <= floorFraction(longest, 0.25)) return 2
      if (aUser < 0 || bUser < 0) return 4
      const max_distance = floorFraction(Math.max(userMatcher.lengthOf(aUser), userMatcher.lengthOf(bUser)), 0.3)
      return userMatcher.distance(aUser, bUser, max_distance) <= max_distance ? 3 : 4
    },
  }
}

function floorFraction(length: number, part: number): number {
  return Math.floor(length * part + 1e-9)
}

/**
 * Dates as `yyyymmdd`: a typing error or swapped day and month, two parts equal, one part equal or a neighbouring year.
 */
function createDateLevels(column: DictionaryColumn): LevelClassifier {
  const matcher = new StringMatcher(column.dictionary)
  const values = parseNumbers(column)
  return {
    count: 6,
    levelOf(a, b) {
      const distance = matcher.distance(a, b, 2)
      if (distance <= 1) return 1
      if (matcher.lengthOf(a) !== 8 || matcher.lengthOf(b) !== 8) return distance <= 2 ? 3 : 5
      const [aDate, bDate] = [values[a]!, values[b]!]
      const years = Math.abs(Math.trunc(aDate / 10_000) - Math.trunc(bDate / 10_000))
      const [aMonth, bMonth] = [Math.trunc(aDate / 100) % 100, Math.trunc(bDate / 100) % 100]
      const [aDay, bDay] = [aDate % 100, bDate % 100]
      if (years === 0 && aMonth === bDay && aDay === bMonth) return 1
      const equal = (years === 0 ? 1 : 0) + (aMonth === bMonth ? 1 : 0) + (aDay === bDay ? 1 : 0)
      if (equal >= 2) return 2
      if (years === 0 || distance <= 2) return 3
      return years === 1 || equal === 1 ? 4 : 5
    },
  }
}

const differenceLimits = [0, 0.02, 0.08, 0.2, 0.4, 0.6]

/** Creates levels by the difference as a share of the larger value. */
function createNumberLevels(column: DictionaryColumn): LevelClassifier {
  const values = parseNumbers(column)
  return {
    count: differenceLimits.length + 1,
    levelOf(a, b) {
      const difference = Math.abs(values[a]! - values[b]!) / Math.max(values[a]!, values[b]!)
      let level = 0
      while (level < differenceLimits.length && difference > differenceLimits[level]!) level++
      return level
    },
  }
}

function createYearLevels(column: DictionaryColumn): LevelClassifier {
  const values = parseNumbers(column)
  return { count: 3, levelOf: (a, b) => (Math.abs(values[a]! - values[b]!) <= 1 ? 1 : 2) }
}

function parseNumbers({ dictionary }: DictionaryColumn): Float64Array {
  return Float64Array.from({ length: dictionary.size }, (_, code) => Number(decodeText(dictionary, code)))
}

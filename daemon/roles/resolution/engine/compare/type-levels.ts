// Similarity of two different values of a field, as a level: 0 is reserved for equal values, higher levels are less
// similar.
import type { FieldType } from '../../lens/model.ts'
import { type DictionaryColumn, decodeText, mapColumn } from '../text/dictionary.ts'
import { StringMatcher } from '../text/string-matcher.ts'
import { createCodesLevels, createNumbersLevels } from './listed-levels.ts'

/**
 * Classifies two different values by code into a level from 1 to `count - 1`; 0 if they count as equal, -1 without
 * evidence.
 */
export type LevelClassifier = { readonly count: number; levelOf(a: number, b: number): number }

/** Creates the levels of a type whose values are not words; others have levels of their own, or of a comparator. */
export function createTypeLevels(type: FieldType, column: DictionaryColumn): LevelClassifier {
  switch (type) {
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
    case 'name':
    case 'place':
    case 'text':
    case 'geo':
    case 'set':
      throw new RangeError(`${type} has no levels here`)
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

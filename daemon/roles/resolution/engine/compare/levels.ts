// How alike two different values of a field are, as a level: 0 is kept for equal values, higher levels are less alike.
import { type Column, textOf, viewed } from '../text/dictionary.ts'
import { alignment, jaroWinkler } from '../text/edit-distance.ts'
import { metaphone } from '../text/metaphone.ts'

/** Of two numbers of different values in the field's dictionary; from 1 to `count - 1`. */
export type Levels = { readonly count: number; levelOf(a: number, b: number): number }

export type FieldType = 'name' | 'place' | 'date' | 'code' | 'email' | 'number' | 'category' | 'year' | 'text'

export function levelsFor(type: Exclude<FieldType, 'text'>, column: Column): Levels {
  switch (type) {
    case 'name':
    case 'place':
      return nameLevels(column)
    case 'date':
      return dateLevels(column)
    case 'code':
      return codeLevels(column)
    case 'email':
      return emailLevels(column)
    case 'number':
      return numberLevels(column)
    case 'category':
      return { count: 2, levelOf: () => 1 }
    case 'year':
      return yearLevels(column)
  }
}

/** A view of a dictionary's values as numbers, by value. */
function numbersOf({ dictionary }: Column, view: (value: string) => string): Int32Array {
  const codes = Int32Array.from({ length: dictionary.size }, (_, code) => code)
  return viewed({ codes, dictionary }, view).codes
}

/** Names of people and places: a slip of the hand, the same sound, a short form, and less and less by Jaro-Winkler. */
function nameLevels(column: Column): Levels {
  const { units, starts } = column.dictionary
  const sounds = numbersOf(column, metaphone)
  return {
    count: 6,
    levelOf(a, b) {
      const aStart = starts[a]!
      const aEnd = starts[a + 1]!
      const bStart = starts[b]!
      const bEnd = starts[b + 1]!
      const least = Math.min(aEnd - aStart, bEnd - bStart)
      const winkler = jaroWinkler(units, aStart, aEnd, units, bStart, bEnd)
      if (winkler >= 0.94) return 1
      const distance = alignment(units, aStart, aEnd, units, bStart, bEnd, 2)
      if (distance <= 1 && least >= 4) return 1
      if (winkler >= 0.88 || (distance <= 1 && least >= 3)) return 2
      if (sounds[a]! >= 0 && sounds[a] === sounds[b]) return 2
      if (least >= 3 && isPrefix(units, aStart, bStart, least)) return 2
      if (winkler >= 0.8 || (distance <= 2 && least >= 5)) return 3
      return winkler >= 0.7 ? 4 : 5
    },
  }
}

function isPrefix(units: Uint16Array, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (units[a + at] !== units[b + at]) return false
  return true
}

/** Identifiers and postal codes: one slip, two, the same first half. */
function codeLevels({ dictionary }: Column): Levels {
  const { units, starts } = dictionary
  return {
    count: 5,
    levelOf(a, b) {
      const aStart = starts[a]!
      const bStart = starts[b]!
      const aLength = starts[a + 1]! - aStart
      const bLength = starts[b + 1]! - bStart
      const least = Math.min(aLength, bLength)
      const distance = alignment(units, aStart, aStart + aLength, units, bStart, bStart + bLength, 2)
      if (distance <= 1 && least >= 4) return 1
      if (distance <= 2 && least >= 6) return 2
      const half = Math.max(aLength, bLength) >> 1
      return half > 0 && half <= least && isPrefix(units, aStart, bStart, half) ? 3 : 4
    },
  }
}

const at_sign = 64

function emailLevels({ dictionary }: Column): Levels {
  const { units, starts, size } = dictionary
  const users = Uint32Array.from({ length: size }, (_, code) => {
    const from = starts[code]!
    const sign = units.subarray(from, starts[code + 1]!).indexOf(at_sign)
    return sign < 0 ? starts[code + 1]! : from + sign
  })
  const alike = (aStart: number, aEnd: number, bStart: number, bEnd: number, least: number) => {
    const longest = Math.max(aEnd - aStart, bEnd - bStart)
    if (longest === 0) return false
    const most = Math.floor((1 - least) * longest + 1e-9)
    return alignment(units, aStart, aEnd, units, bStart, bEnd, most) <= most
  }
  return {
    count: 5,
    levelOf(a, b) {
      const aStart = starts[a]!
      const bStart = starts[b]!
      const aUser = users[a]!
      const bUser = users[b]!
      const isSameUser = aUser - aStart === bUser - bStart && isPrefix(units, aStart, bStart, aUser - aStart)
      if (isSameUser || alike(aStart, starts[a + 1]!, bStart, starts[b + 1]!, 0.88)) return 1
      if (alike(aStart, starts[a + 1]!, bStart, starts[b + 1]!, 0.75)) return 2
      return alike(aStart, aUser, bStart, bUser, 0.7) ? 3 : 4
    },
  }
}

/** Dates as `yyyymmdd`: a slip or day and month swapped, two parts equal, one part or a neighbouring year. */
function dateLevels({ dictionary }: Column): Levels {
  const { units, starts } = dictionary
  const pair = (at: number) => (units[at]! << 16) | units[at + 1]!
  const yearOf = (at: number) => {
    let year = 0
    for (let digit = 0; digit < 4; digit++) year = year * 10 + (units[at + digit]! - 48)
    return year
  }
  return {
    count: 6,
    levelOf(a, b) {
      const aStart = starts[a]!
      const bStart = starts[b]!
      const aEnd = starts[a + 1]!
      const bEnd = starts[b + 1]!
      const distance = alignment(units, aStart, aEnd, units, bStart, bEnd, 2)
      if (distance <= 1) return 1
      if (aEnd - aStart !== 8 || bEnd - bStart !== 8) return distance <= 2 ? 3 : 5
      const apart = Math.abs(yearOf(aStart) - yearOf(bStart))
      const [aMonth, aDay, bMonth, bDay] = [pair(aStart + 4), pair(aStart + 6), pair(bStart + 4), pair(bStart + 6)]
      if (apart === 0 && aMonth === bDay && aDay === bMonth) return 1
      const equal = (apart === 0 ? 1 : 0) + (aMonth === bMonth ? 1 : 0) + (aDay === bDay ? 1 : 0)
      if (equal >= 2) return 2
      if (apart === 0 || distance <= 2) return 3
      return apart === 1 || equal === 1 ? 4 : 5
    },
  }
}

const differences = [0, 0.02, 0.08, 0.2, 0.4, 0.6]

/** By the difference as a part of the larger. */
function numberLevels(column: Column): Levels {
  const values = valuesOf(column)
  return {
    count: differences.length + 1,
    levelOf(a, b) {
      const difference = Math.abs(values[a]! - values[b]!) / Math.max(values[a]!, values[b]!)
      let level = 0
      while (level < differences.length && difference > differences[level]!) level++
      return level
    },
  }
}

function yearLevels(column: Column): Levels {
  const values = valuesOf(column)
  return { count: 3, levelOf: (a, b) => (Math.abs(values[a]! - values[b]!) <= 1 ? 1 : 2) }
}

function valuesOf({ dictionary }: Column): Float64Array {
  return Float64Array.from({ length: dictionary.size }, (_, code) => Number(textOf(dictionary, code)))
}

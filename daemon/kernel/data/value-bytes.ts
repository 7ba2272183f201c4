// Values of numbers and times read from their UTF-8, without a text. Each function knows the usual forms alone, and gives NaN for
// any other text: `parseTyped` then decides.

const [minus, plus, dot, zero, nine, colon, blank, upperT, upperZ] = [45, 43, 46, 48, 57, 58, 32, 84, 90]

/** Digits that a double always keeps. */
const max_digits = 15

/** An integer of at most 15 digits. */
export function readInteger(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === minus
  const first = isNegative ? start + 1 : start
  const length = end - first
  if (length < 1 || length > max_digits) return Number.NaN
  // `007` and `-0` are texts.
  if (bytes[first] === zero) return length === 1 && !isNegative ? 0 : Number.NaN
  let value = 0
  for (let at = first; at < end; at++) {
    const digit = bytes[at]! - zero
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return isNegative ? -value : value
}

/** Powers of ten that a double represents exactly. */
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * A number without an exponent, of at most 15 significant digits and 22 decimals. Digits and power are exact, so the
 * quotient is the nearest double (Clinger, How to read floating point numbers accurately, 1990).
 */
export function readDecimal(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === minus
  let at = isNegative ? start + 1 : start
  if (at >= end) return Number.NaN
  let value = 0
  let digits = 0
  if (bytes[at] === zero) at++
  else
    for (; at < end; at++) {
      const digit = bytes[at]! - zero
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
      digits++
    }
  if (at === start || (isNegative && at === start + 1)) return Number.NaN
  let decimals = 0
  if (at < end) {
    if (bytes[at++] !== dot || at === end) return Number.NaN
    for (; at < end; at++) {
      const digit = bytes[at]! - zero
      if (digit < 0 || digit > 9) return Number.NaN
      value = value * 10 + digit
      if (value > 0) digits++
      decimals++
    }
  }
  // `-0` is a text.
  if (digits > max_digits || decimals >= powers.length || (value === 0 && isNegative)) return Number.NaN
  const number = decimals === 0 ? value : value / powers[decimals]!
  return isNegative ? -number : number
}

/** Stands for no number among integers, so that they stay integers. */
const none = -1_000_000

/** The number of two digits; `none` for other bytes. */
function readPair(bytes: Uint8Array, at: number): number {
  const high = bytes[at]! - zero
  const low = bytes[at + 1]! - zero
  return high < 0 || high > 9 || low < 0 || low > 9 ? none : high * 10 + low
}

const monthDays = Uint8Array.of(31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
const day_length_s = 86_400

/** A day of four digits of a year, in days since 1970. */
export function readDay(bytes: Uint8Array, start: number, end: number): number {
  const days = end - start === 10 ? findDay(bytes, start) : none
  return days === none ? Number.NaN : days
}

/** The day of the next ten bytes; `none` for other bytes. */
function findDay(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] !== minus || bytes[start + 7] !== minus) return none
  const year = readPair(bytes, start) * 100 + readPair(bytes, start + 2)
  const month = readPair(bytes, start + 5)
  const day = readPair(bytes, start + 8)
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > monthDays[month - 1]!) return none
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && day === 29 && !isLeap ? none : countDays(year, month, day)
}

/**
 * Days since 1970 in the proleptic Gregorian calendar, by years that begin in March, so that a leap day is the last of its year.
 * The years are 400 later, so that none is negative: their days repeat then.
 */
function countDays(year: number, month: number, day: number): number {
  const shifted = (month > 2 ? year : year - 1) + 400
  const in_year = (((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) | 0) + day - 1
  const leap_days = ((shifted / 4) | 0) - ((shifted / 100) | 0) + ((shifted / 400) | 0)
  return shifted * 365 + leap_days + in_year - days_before_1970
}

/** From -0400-03-01 to 1970-01-01. */
const days_before_1970 = 719_468 + 146_097

/**
 * A time in units of which a second has `per_second`, since 1970: an instant with its offset, or a local time without one. NaN also
 * for a time beyond the integers that a double keeps. Without destructuring: a list for each value takes as long as the rest.
 */
export function readTime(
  bytes: Uint8Array,
  start: number,
  end: number,
  hasOffset: boolean,
  per_second: number,
): number {
  if (end - start < 16) return Number.NaN
  const days = findDay(bytes, start)
  const separator = bytes[start + 10]
  if (days === none || (separator !== upperT && separator !== blank) || bytes[start + 13] !== colon) return Number.NaN
  const hour = readPair(bytes, start + 11)
  const minute = readPair(bytes, start + 14)
  let at = start + 16
  let second = 0
  let fraction = 0
  if (at < end && bytes[at] === colon) {
    if (end - at < 3) return Number.NaN
    second = readPair(bytes, at + 1)
    at += 3
    if (at < end && bytes[at] === dot) {
      const first = ++at
      let unit = per_second
      for (; at < end && bytes[at]! >= zero && bytes[at]! <= nine; at++) {
        unit /= 10
        fraction += (bytes[at]! - zero) * unit
      }
      // A decimal below the unit cannot be kept.
      if (at === first || unit < 1) return Number.NaN
    }
  }
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return Number.NaN
  if ((at !== end) !== hasOffset) return Number.NaN
  const offset_s = hasOffset ? readOffset(bytes, at, end) : 0
  if (offset_s === none) return Number.NaN
  const time = (days * day_length_s + (hour * 60 + minute) * 60 + second - offset_s) * per_second + fraction
  return Number.isSafeInteger(time) ? time : Number.NaN
}

/** Seconds of `Z`, `+05:30` or `-05:30`; `none` for other bytes. */
function readOffset(bytes: Uint8Array, at: number, end: number): number {
  const sign = bytes[at]
  if (sign === upperZ) return at + 1 === end ? 0 : none
  if ((sign !== plus && sign !== minus) || end - at !== 6 || bytes[at + 3] !== colon) return none
  const hours = readPair(bytes, at + 1)
  const minutes = readPair(bytes, at + 4)
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return none
  return (sign === plus ? 60 : -60) * (hours * 60 + minutes)
}

const [lowerT, lowerF] = [116, 102]
const lowerCase = 0x20
const words: Readonly<Record<number, readonly number[]>> = {
  [lowerT]: [...'true'].map((letter) => letter.charCodeAt(0)),
  [lowerF]: [...'false'].map((letter) => letter.charCodeAt(0)),
}

/** 1 for `true` and 0 for `false`, in any case. */
export function readTruth(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]! | lowerCase
  const word = words[first]
  if (word === undefined || word.length !== end - start) return Number.NaN
  for (let at = start; at < end; at++) if ((bytes[at]! | lowerCase) !== word[at - start]) return Number.NaN
  return first === lowerT ? 1 : 0
}

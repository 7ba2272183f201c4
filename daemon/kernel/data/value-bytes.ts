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
  let [value, digits] = [0, 0]
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

/** The number of two digits; NaN for other bytes. */
function readPair(bytes: Uint8Array, at: number): number {
  const [high, low] = [bytes[at]!, bytes[at + 1]!]
  return high < zero || high > nine || low < zero || low > nine ? Number.NaN : (high - zero) * 10 + low - zero
}

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const day_length_s = 86_400

/** A day of four digits of a year, in days since 1970. */
export function readDay(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 10 || bytes[start + 4] !== minus || bytes[start + 7] !== minus) return Number.NaN
  const year = readPair(bytes, start) * 100 + readPair(bytes, start + 2)
  const [month, day] = [readPair(bytes, start + 5), readPair(bytes, start + 8)]
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= monthDays[month - 1]!)) return Number.NaN
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && day === 29 && !isLeap ? Number.NaN : countDays(year, month, day)
}

/** Days since 1970 in the proleptic Gregorian calendar, by years that begin in March, so that a leap day is the last of its year. */
function countDays(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const in_year = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const leap_days = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leap_days + in_year - days_before_1970
}

/** From 0000-03-01 to 1970-01-01. */
const days_before_1970 = 719_468

/**
 * A time in units of which a second has `per_second`, since 1970: an instant with its offset, or a local time without one. NaN also
 * for a time beyond the integers that a double keeps.
 */
export function readTime(
  bytes: Uint8Array,
  start: number,
  end: number,
  hasOffset: boolean,
  per_second: number,
): number {
  if (end - start < 16) return Number.NaN
  const days = readDay(bytes, start, start + 10)
  const separator = bytes[start + 10]
  if ((separator !== upperT && separator !== blank) || bytes[start + 13] !== colon) return Number.NaN
  const [hour, minute] = [readPair(bytes, start + 11), readPair(bytes, start + 14)]
  let at = start + 16
  let [second, fraction] = [0, 0]
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
  const offset_s = at === end ? Number.NaN : readOffset(bytes, at, end)
  if ((at !== end) !== hasOffset || !(hour < 24 && minute < 60 && second < 60)) return Number.NaN
  const seconds = days * day_length_s + (hour * 60 + minute) * 60 + second - (hasOffset ? offset_s : 0)
  const time = seconds * per_second + fraction
  return Number.isSafeInteger(time) ? time : Number.NaN
}

/** Seconds of `Z`, `+05:30` or `-05:30`. */
function readOffset(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] === upperZ) return at + 1 === end ? 0 : Number.NaN
  const sign = bytes[at] === plus ? 1 : bytes[at] === minus ? -1 : Number.NaN
  if (end - at !== 6 || bytes[at + 3] !== colon) return Number.NaN
  const [hours, minutes] = [readPair(bytes, at + 1), readPair(bytes, at + 4)]
  return hours <= 14 && minutes <= 59 ? sign * (hours * 60 + minutes) * 60 : Number.NaN
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

// Texts of cells as a person typed them: numbers in full, dates and times as ISO 8601.

/** The meaning of a number format. */
export type NumberKind = 'number' | 'date' | { readonly digits: number }

const dateFormats: ReadonlySet<number> = new Set([
  ...[14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 47],
  // Of Chinese, Japanese, Korean and Thai.
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58],
])

/** Longest code of a format in Excel; a longer one counts as a plain number, since it would take long to read. */
const max_code_characters = 255

/** By the number of a format, and its code where the workbook has it. A code of zeros alone, as for postal codes, keeps them. */
export function kindOfFormat(id: number, code: string | undefined): NumberKind {
  if (code === undefined) return dateFormats.has(id) ? 'date' : 'number'
  if (code.length > max_code_characters) return 'number'
  const [positive = ''] = code.split(';')
  if (/^0{2,}$/.test(positive)) return { digits: positive.length }
  // Elapsed hours, minutes and seconds are amounts. Texts, escapes, colours and locales are left out.
  if (/\[(h+|m+|s+)\]/i.test(positive)) return 'number'
  const plain = positive.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '')
  return /[ymdhs]/i.test(plain) && !/general/i.test(plain) ? 'date' : 'number'
}

const day_ms = 86_400_000
/** 30 December 1899: day 0 of the system of 1900, from March 1900 on. */
const epoch_1900_ms = Date.UTC(1899, 11, 30)
/** Day 0 of the system of 1904. */
const epoch_1904_ms = Date.UTC(1904, 0, 1)
/** The first day of March 1900; before it the system counts a 29 February that did not exist. */
const march_1900 = 61
/** From the first day of the year 1, which LibreOffice writes as a negative number, to the last of 9999. */
const [min_day, max_day] = [-693_593, 2_958_466]

/** Returns the text of a number as it is stored; undefined where it is not a number. */
export function formatNumber(stored: string, kind: NumberKind, has1904Dates: boolean): string | undefined {
  const value = Number(stored)
  if (stored.trim() === '' || !Number.isFinite(value)) return undefined
  // Beyond 2^53, digits of an id would change.
  if (kind === 'number' && /^-?(0|[1-9]\d*)$/.test(stored) && !Number.isSafeInteger(value)) return stored
  if (kind === 'date') return formatSerial(value, has1904Dates) ?? String(value)
  if (kind === 'number' || !Number.isSafeInteger(value) || value < 0) return String(value)
  return String(value).padStart(kind.digits, '0')
}

function formatSerial(serial: number, has1904Dates: boolean): string | undefined {
  if (serial < min_day || serial >= max_day) return undefined
  const day = Math.floor(serial)
  const isShifted = !has1904Dates && day >= 0 && day < march_1900
  const epoch_ms = has1904Dates ? epoch_1904_ms : epoch_1900_ms
  // A double keeps milliseconds of such a day, but not all of its own digits.
  const ms = epoch_ms + Math.round((serial + (isShifted ? 1 : 0)) * day_ms)
  const text = new Date(ms).toISOString()
  const time = text.slice(11, 23).replace(/\.000$/, '')
  if (day === 0 && !has1904Dates) return time
  return ms % day_ms === 0 ? text.slice(0, 10) : `${text.slice(0, 10)}T${time}`
}

/** Replaces `_x000D_` by the character that it stands for. */
export function unescapeText(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text
}

/** Returns the column of a reference such as `BC12`, from 0; undefined for another text. */
export function columnOf(reference: string): number | undefined {
  let column = 0
  let at = 0
  for (; at < reference.length && at < 4; at++) {
    const letter = reference.charCodeAt(at) & 0xdf
    if (letter < 65 || letter > 90) break
    column = column * 26 + letter - 64
  }
  return at > 0 && at < 4 && at < reference.length ? column - 1 : undefined
}

/** Returns the letters of a column. */
export function lettersOf(column: number): string {
  const rest = Math.floor(column / 26)
  return `${rest > 0 ? lettersOf(rest - 1) : ''}${String.fromCharCode(65 + (column % 26))}`
}

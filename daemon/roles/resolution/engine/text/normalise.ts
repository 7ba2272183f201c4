// One form for what people write in many: case, accents, punctuation, the order of a date.

/** Lower case, no accents, runs of anything but letters and digits as one space. */
export function normaliseWords(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Letters and digits alone. */
export function normaliseCode(text: string): string {
  return normaliseWords(text).replaceAll(' ', '')
}

export function normaliseEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/**
 * A number above nought as `String` writes it; the empty string for all else. Signs of currency and thousands are left
 * out.
 */
export function normaliseNumber(text: string): string {
  const value = Number(text.replace(/[\s,$€£]/g, ''))
  return Number.isFinite(value) && value > 0 ? String(value) : ''
}

/** The first four digits in a row. */
export function normaliseYear(text: string): string {
  return /\d{4}/.exec(text)?.[0] ?? ''
}

const yearFirstDate = /^\D*(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?!\d)/
const yearLastDate = /^\D*(\d{1,2})\D(\d{1,2})\D(\d{4})/

/**
 * `yyyymmdd`; the year first or, with signs between, last after day and month. A partial or odd date keeps its digits.
 */
export function normaliseDate(text: string): string {
  const big = yearFirstDate.exec(text)
  if (big) return `${big[1]}${padTwoDigits(big[2])}${padTwoDigits(big[3])}`
  const little = yearLastDate.exec(text)
  if (little) return `${little[3]}${padTwoDigits(little[2])}${padTwoDigits(little[1])}`
  return text.replace(/\D/g, '')
}

function padTwoDigits(digits = ''): string {
  return digits.padStart(2, '0')
}

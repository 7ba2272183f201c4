// Normalises different notations: case, accents, punctuation, the order of a date.
import { foldDigits, hasScriptRules, limitMarks, normaliseScripts } from './normalise-scripts.ts'

/**
 * Lower-cases, removes accents, and replaces other characters than letters and digits with single spaces. Scripts whose
 * marks are letters, or that write one letter in several ways, have rules of their own.
 */
export function normaliseWords(text: string): string {
  if (hasScriptRules(text)) return normaliseScripts(text)
  return limitMarks(text)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Keeps letters and digits only. */
export function normaliseCode(text: string): string {
  return normaliseWords(text).replaceAll(' ', '')
}

/** Keeps the words of a text that has a code; a text without one becomes empty. */
export function normaliseCodes(text: string): string {
  const words = normaliseWords(text)
  return words.split(' ').some(isCodeWord) ? words : ''
}

/** Whether a word is a code, such as a model number: four characters or more with letters and digits, or five digits. */
export function isCodeWord(word: string): boolean {
  return word.length >= 4 && /\d/.test(word) && (word.length >= 5 || /\p{L}/u.test(word))
}

/** Keeps the distinct numbers of a text in their order: sizes, versions, volumes. */
export function normaliseNumbers(text: string): string {
  const numbers = normaliseWords(text).match(/\d+/g) ?? []
  return [...new Set(numbers.map((digits) => digits.replace(/^0+(?=\d)/, '')))].join(' ')
}

export function normaliseEmail(text: string): string {
  return limitMarks(text).normalize('NFKC').trim().toLowerCase()
}

/**
 * Normalises a number above 0 to the form of `String`, without currency and thousands signs; other text becomes empty.
 */
export function normaliseNumber(text: string): string {
  const value = Number(foldDigits(text).replace(/[\s,$€£]/g, ''))
  return Number.isFinite(value) && value > 0 ? String(value) : ''
}

/** Extracts the first four consecutive digits. */
export function normaliseYear(text: string): string {
  return /\d{4}/.exec(foldDigits(text))?.[0] ?? ''
}

const yearFirstDate = /^\D*(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?!\d)/
const yearLastDate = /^\D*(\d{1,2})\D(\d{1,2})\D(\d{4})/

/** Normalises a date to `yyyymmdd`: year first, or day, month, year with separators. Other text keeps its digits. */
export function normaliseDate(written: string): string {
  const text = foldDigits(written)
  const yearFirst = yearFirstDate.exec(text)
  if (yearFirst) return `${yearFirst[1]}${padTwoDigits(yearFirst[2])}${padTwoDigits(yearFirst[3])}`
  const yearLast = yearLastDate.exec(text)
  if (yearLast) return `${yearLast[3]}${padTwoDigits(yearLast[2])}${padTwoDigits(yearLast[1])}`
  return text.replace(/\D/g, '')
}

function padTwoDigits(digits = ''): string {
  return digits.padStart(2, '0')
}

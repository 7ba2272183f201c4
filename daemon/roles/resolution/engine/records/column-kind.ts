// Recognises what the values of a column are, from the values and from the name of the column.
import type { FieldType } from '../../lens/field.ts'
import type { NormaliserName } from '../../lens/normalisers.ts'
import { hasLegalForm } from '../text/normalise-identity.ts'
import { foldDigits } from '../text/normalise-scripts.ts'
import { createNormaliser } from '../text/normalisers.ts'

/** How a field reads and compares such values. */
export type ColumnKind = {
  readonly type: FieldType
  /** Normal form, where it is not the usual one of the type. */
  readonly normalisers?: readonly NormaliserName[]
}

const min_type_share = 0.9
/** Of values written as dates: slips make days and months that do not exist. */
const min_valid_date_share = 0.5
const max_sampled_values = 2_000
/** Enough to recognise a value; the patterns take time with the square of its length. */
const max_recognised_characters = 200
const max_category_values = 60
/** Identifiers have no decimals; amounts and measures mostly have some. */
const min_decimal_share = 0.1
/** Share of values that list several elements. */
const min_list_share = 0.1
/** Mean number of values that have an element of a list. */
const min_element_uses = 2
/** Names of columns of amounts and measures, whose values may all be whole. */
const measureNames =
  /price|cost|amount|minutes|runtime|duration|weight|height|length|width|salary|employees|population/i
/** Companies without a legal form in their name are common in the same column. */
const min_legal_form_share = 0.2
/** More words than a name or a place has. */
const max_name_words = 4

const date = createNormaliser(['date'])
const location = createNormaliser(['location'])

/** Recognises the values. `texts`: the distinct values. `records`: records with a value. */
export function recogniseColumn(column: string, texts: readonly string[], records: number): ColumnKind {
  const step = Math.max(1, Math.floor(texts.length / max_sampled_values))
  const chosen = texts.filter((_, at) => at % step === 0).slice(0, max_sampled_values)
  const sampled = chosen.map((text) => foldDigits(text.slice(0, max_recognised_characters)))
  const shareOf = (matches: (text: string) => boolean) => sampled.filter(matches).length / Math.max(1, sampled.length)
  const mostAre = (matches: (text: string) => boolean) => shareOf(matches) >= min_type_share
  const isNamed = (pattern: RegExp) => pattern.test(column)
  if (mostAre((text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim()))) return { type: 'email' }
  if (mostAre(isUrl)) return { type: 'code', normalisers: ['url'] }
  if (mostAre((text) => /^\s*(1[5-9]|20)\d\d\s*$/.test(text))) return { type: 'year' }
  if (mostAre(isDate) || (mostAre(isWrittenDate) && shareOf(isDate) >= min_valid_date_share))
    return { type: mostAre((text) => date(text).endsWith('0101')) ? 'year' : 'date' }
  if (mostAre(isPhone) && (isNamed(/phone|mobile|fax|\btel/i) || mostAre(isWrittenPhone)))
    return { type: 'code', normalisers: ['phone'] }
  if (mostAre((text) => /[.,]\d+.*[,; ].*[.,]\d+/.test(text) && location(text) !== '')) return { type: 'geo' }
  const isMeasure = isNamed(measureNames) || shareOf((text) => /\.\d/.test(text)) >= min_decimal_share
  if (isMeasure && mostAre(isNumber)) return { type: 'number' }
  if (shareOf(hasLegalForm) >= min_legal_form_share || isNamed(/company|organi[sz]ation|legal.?name|employer/i))
    return { type: 'name', normalisers: ['company'] }
  if (texts.length <= max_category_values && records >= texts.length * 20) return { type: 'category' }
  if (shareOf((text) => /[;|]/.test(text)) > 0.5 || isListOfFew(sampled)) return { type: 'set' }
  if (mostAre((text) => /\d/.test(text) && countWords(text) <= 2)) return { type: 'code' }
  if (isNamed(/address/i) && shareOf((text) => /\d/.test(text)) > 0.5) return { type: 'text' }
  const words = sampled.reduce((sum, text) => sum + countWords(text), 0) / Math.max(1, sampled.length)
  if (words > max_name_words) return { type: shareOf(isMostlyNumbers) > 0.5 ? 'numbers' : 'text' }
  if (shareOf((text) => /\d/.test(text)) > 1 / 3) return { type: 'place' }
  // People of which some are written "surname, given name".
  return shareOf((text) => /^[^,\d]+,[^,\d]+$/.test(text)) > 0.3
    ? { type: 'name', normalisers: ['sorted_words'] }
    : { type: 'name' }
}

/** Mean letters of a word in scripts that write no spaces between words: those of China and Japan, Thai, Lao, Burmese, Khmer. */
const unspaced_word_letters = 3
const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Khmer}]+/gu

function countWords(text: string): number {
  const words = text.trim().split(/\s+/).length
  const unspaced = text.match(unspacedRun) ?? []
  return unspaced.reduce((sum, run) => sum + Math.ceil([...run].length / unspaced_word_letters) - 1, words)
}

/** Whether values list elements of few: genres, professions. */
function isListOfFew(texts: readonly string[]): boolean {
  const lists = texts.filter((text) => text.includes(','))
  if (lists.length < min_list_share * texts.length || lists.some((text) => /\d/.test(text))) return false
  const elements = texts.flatMap((text) => text.toLowerCase().split(/\s*,\s*/))
  const distinct = new Set(elements).size
  return distinct <= max_category_values && elements.length >= min_element_uses * distinct
}

/** Whether more words are numbers than not: dimensions, lists of measures. */
function isMostlyNumbers(text: string): boolean {
  const words = text.trim().split(/\s+/)
  const numbers = words.filter((word) => /^[\d.,]+$/.test(word)).length
  return numbers > 0 && numbers * 2 >= words.length - 1
}

/** Digits alone are a date of the last centuries; with marks between them, one of any. */
function isDate(text: string): boolean {
  const found = date(text)
  const isKnown = /^(0\d|1\d|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/.test(found)
  const isRecent = /^(1[5-9]|20)/.test(found)
  return isKnown && (isRecent || /^\s*\d{4}-\d\d?-\d\d?\s*$/.test(text)) && text.trim().length <= 24
}

function isWrittenDate(text: string): boolean {
  return /^\s*(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4})\s*$/.test(text)
}

function isNumber(text: string): boolean {
  return /^\s*[-+$€£]?\s*\d+(,\d{3})*(\.\d+)?\s*$/.test(text)
}

function isUrl(text: string): boolean {
  return /^\s*(https?:\/\/\S+|(www\.)?[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(\/\S*)?)\s*$/i.test(text)
}

function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '').length
  return /^\s*\+?[\d\s().\-/]+(\s*(x|ext\.?)\s*\d+)?\s*$/i.test(text) && digits >= 6 && digits <= 18
}

/** Whether a phone number is written as people write one: with a plus, brackets or groups. */
function isWrittenPhone(text: string): boolean {
  return /^\s*(\+|\(|0\d)|\d[\s.\-/]\d+[\s.\-/]\d/.test(text)
}

// The named normalisers of values; an unreadable value becomes the empty string, which counts as missing.
import type { NormaliserName } from '../../lens/normalisers.ts'
import {
  normaliseCode,
  normaliseCodes,
  normaliseDate,
  normaliseEmail,
  normaliseNumber,
  normaliseNumbers,
  normaliseWords,
  normaliseYear,
} from './normalise.ts'
import { normaliseCompany, normalisePhone, normaliseUrl } from './normalise-identity.ts'
import { foldDigits, limitMarks } from './normalise-scripts.ts'

type Normaliser = (text: string) => string

const normalisers: Readonly<Record<NormaliserName, Normaliser>> = {
  trim: (text) => text.trim(),
  lower: (text) => text.toLowerCase(),
  no_accents: (text) =>
    limitMarks(text)
      .normalize('NFKD')
      .replace(/\p{M}+/gu, ''),
  words: normaliseWords,
  sorted_words: (text) => normaliseWords(text).split(' ').sort().join(' '),
  letters: (text) => text.replace(/[^\p{L}]+/gu, ''),
  digits: (text) => foldDigits(text).replace(/\D+/g, ''),
  code: normaliseCode,
  email: normaliseEmail,
  number: normaliseNumber,
  decimal: normaliseDecimal,
  year: normaliseYear,
  date: normaliseDate,
  location: normaliseLocation,
  set: normaliseSet,
  codes: normaliseCodes,
  numbers: normaliseNumbers,
  phone: normalisePhone,
  url: normaliseUrl,
  company: normaliseCompany,
  no_placeholders: (text) => (placeholderPattern.test(text.trim()) ? '' : text),
}

/** Placeholders that people and programs write for unknown values. */
const placeholderPattern =
  /^(|-+|\.+|\?+|n\/?a|nan|null|none|nil|unknown|not known|unbekannt|missing|tba|tbd|x{2,}|0000-00-00)$/i

/** Creates a function that applies the normalisers in order. */
export function createNormaliser(names: readonly NormaliserName[]): Normaliser {
  const [first, second, ...others] = names.map((name) => normalisers[name])
  if (!first) return (text) => text
  if (!second) return first
  return (text) => [second, ...others].reduce((value, normalise) => normalise(value), first(text))
}

/** Normalises any finite number, including negative numbers and 0. */
function normaliseDecimal(text: string): string {
  const plain = foldDigits(text).replace(/[\s,$€£]/g, '')
  const value = plain === '' ? Number.NaN : Number(plain)
  return Number.isFinite(value) ? String(value) : ''
}

/** Normalises a location to `latitude,longitude` in degrees, ignoring other text around and between the numbers. */
function normaliseLocation(text: string): string {
  const [, latitude = '', longitude = ''] =
    /^[^\d+-]*([+-]?\d+(?:\.\d+)?)[^\d+-]+([+-]?\d+(?:\.\d+)?)\D*$/.exec(text) ?? []
  if (latitude === '' || longitude === '') return ''
  const [north, east] = [Number(latitude), Number(longitude)]
  return Math.abs(north) <= 90 && Math.abs(east) <= 180 ? `${north},${east}` : ''
}

/** Normalises a list separated by `;`, `|` or `,` to sorted distinct elements, without brackets and quotation marks. */
function normaliseSet(text: string): string {
  const parts = text.replace(/^[[{(]|[\])}]$/g, '').split(/[;|,\n]/)
  const elements = parts.map((part) => normaliseWords(part)).filter((part) => part !== '')
  return [...new Set(elements)].sort().join('|')
}

// What each named normaliser does to a value; an unreadable value becomes the empty string, which counts as missing.
import type { NormaliserName } from '../../lens/normalisers.ts'
import {
  normaliseCode,
  normaliseDate,
  normaliseEmail,
  normaliseNumber,
  normaliseWords,
  normaliseYear,
} from './normalise.ts'

type Normaliser = (text: string) => string

const normalisers: Readonly<Record<NormaliserName, Normaliser>> = {
  trim: (text) => text.trim(),
  lower: (text) => text.toLowerCase(),
  no_accents: (text) => text.normalize('NFKD').replace(/\p{M}+/gu, ''),
  words: normaliseWords,
  sorted_words: (text) => normaliseWords(text).split(' ').sort().join(' '),
  letters: (text) => text.replace(/[^\p{L}]+/gu, ''),
  digits: (text) => text.replace(/\D+/g, ''),
  code: normaliseCode,
  email: normaliseEmail,
  number: normaliseNumber,
  decimal: normaliseDecimal,
  year: normaliseYear,
  date: normaliseDate,
  location: normaliseLocation,
  set: normaliseSet,
  no_placeholders: (text) => (placeholderPattern.test(text.trim()) ? '' : text),
}

/** What people and programs write where they know nothing. */
const placeholderPattern =
  /^(|-+|\.+|\?+|n\/?a|nan|null|none|nil|unknown|not known|unbekannt|missing|tba|tbd|x{2,}|0000-00-00)$/i

/** All of them, one after the other. */
export function createNormaliser(names: readonly NormaliserName[]): Normaliser {
  const [first, second, ...others] = names.map((name) => normalisers[name])
  if (!first) return (text) => text
  if (!second) return first
  return (text) => [second, ...others].reduce((value, each) => each(value), first(text))
}

/** Any finite number, negative ones and nought with them. */
function normaliseDecimal(text: string): string {
  const plain = text.replace(/[\s,$€£]/g, '')
  const value = plain === '' ? Number.NaN : Number(plain)
  return Number.isFinite(value) ? String(value) : ''
}

/** `latitude,longitude` in degrees, whatever stands around and between them. */
function normaliseLocation(text: string): string {
  const [, latitude = '', longitude = ''] =
    /^[^\d+-]*([+-]?\d+(?:\.\d+)?)[^\d+-]+([+-]?\d+(?:\.\d+)?)\D*$/.exec(text) ?? []
  if (latitude === '' || longitude === '') return ''
  const [north, east] = [Number(latitude), Number(longitude)]
  return Math.abs(north) <= 90 && Math.abs(east) <= 180 ? `${north},${east}` : ''
}

/** Different things between `;`, `|` or `,`, in one order; brackets and quotation marks around them are left out. */
function normaliseSet(text: string): string {
  const parts = text.replace(/^[[{(]|[\])}]$/g, '').split(/[;|,\n]/)
  const things = parts.map((part) => normaliseWords(part)).filter((part) => part !== '')
  return [...new Set(things)].sort().join('|')
}

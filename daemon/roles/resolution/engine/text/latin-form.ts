// The Latin form of a normalised value: letters of other scripts as the letters a to z and digits that sound most alike.
import anyAscii from 'any-ascii'
import { max_compared_characters } from '../../lens/comparison.ts'
import type { Dictionary, DictionaryColumn } from './dictionary.ts'
import { buildDictionary, decodeText } from './dictionary.ts'
import { latinBlocks } from './latin-blocks.ts'
import { isAscii, limitMarks } from './normalise-scripts.ts'
import { findScripts } from './scripts.ts'

const blocks: ReadonlySet<number> = new Set(latinBlocks)

/** Letters that together stand for one sound, in the order of their replacement. */
const digraphs: readonly (readonly [RegExp, string])[] = [
  [/ου/g, 'ou'],
  [/([αε])υ/g, '$1v'],
  // Vav is a vowel more often than a consonant; any-ascii reads it as v.
  [/ו/g, 'w'],
]

/**
 * Returns the Latin form of a normalised value; a value of ASCII letters is its own. It reads the first characters,
 * as comparisons do. Letters without a Latin form stay as they are.
 */
export function latinForm(value: string): string {
  if (isAscii(value)) return value
  const decomposed = limitMarks(value.slice(0, max_compared_characters)).normalize('NFKD')
  const read = digraphs.reduce((text, [letters, form]) => text.replace(letters, form), composeKana(decomposed))
  let form = ''
  for (const letter of read) form += readLetter(letter)
  return form.replace(/ +/g, ' ').trim().slice(0, max_compared_characters)
}

/** Voiced kana are one letter in the table. */
function composeKana(text: string): string {
  return text.replace(/[\u3041-\u30ff][\u3099\u309a]/g, (pair) => pair.normalize('NFC'))
}

const latinForms = new Map<string, string>()

function readLetter(letter: string): string {
  const code_point = letter.codePointAt(0) ?? 0
  if (code_point < 0x80) return letter
  const known = latinForms.get(letter)
  if (known !== undefined) return known
  if (!blocks.has(code_point >>> 8)) return letter
  const form = anyAscii(letter)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  // Bounded by the characters of the blocks.
  latinForms.set(letter, form)
  return form
}

/** The first letter after those of Latin scripts. */
const first_other_letter = 0x370

/** Returns the value, followed by its Latin form if it has letters of another script than Latin. */
export function withLatinForm(value: string): string {
  for (let at = 0; at < value.length; at++)
    if (value.charCodeAt(at) >= first_other_letter) return `${value} ${latinForm(value)}`
  return value
}

/** The scripts and Latin forms of the values of a dictionary, under the same numbers. */
export type LatinForms = { readonly scripts: Int32Array; readonly latin: Dictionary }

/** Reads the Latin forms; undefined for a dictionary whose values are all ASCII. */
export function readLatinForms(dictionary: Dictionary): LatinForms | undefined {
  const { size, units, starts } = dictionary
  if (units.every((unit) => unit < 0x80)) return undefined
  const scripts = Int32Array.from({ length: size }, (_, code) => findScripts(units, starts[code]!, starts[code + 1]!))
  const forms = Array.from({ length: size }, (_, code) => latinForm(decodeText(dictionary, code)))
  return { scripts, latin: buildDictionary(forms) }
}

/** Whether a value of the column has letters beyond ASCII. */
export function hasOtherLetters({ dictionary }: DictionaryColumn): boolean {
  return !dictionary.units.every((unit) => unit < 0x80)
}

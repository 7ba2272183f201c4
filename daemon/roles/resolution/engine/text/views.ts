// The named views of a normalised value; an empty view is not a shared key.
import type { FieldView, ViewName } from '../../lens/expression.ts'
import { defaultNameOptions, type PhoneticName } from '../../lens/phonetics.ts'
import { latinForm } from './latin-form.ts'
import { readSound } from './phonetics/sounds.ts'

type ViewFunction = (value: string, numbers: readonly number[], phonetics: readonly PhoneticName[]) => string

const viewFunctions: Readonly<Record<ViewName, ViewFunction>> = {
  prefix: (value, [length = 1]) => value.slice(0, length),
  suffix: (value, [length = 1]) => value.slice(-length),
  // As in SQL: the first letter is 1.
  substr: (value, [from = 1, length = 1]) => value.slice(from - 1, from - 1 + length),
  phonetic: (value, _, [first = 'metaphone']) => readSound(first, value),
  metaphone: (value) => readSound('metaphone', value),
  double_metaphone: (value) => readSound('double_metaphone', value),
  soundex: (value) => readSound('soundex', value),
  cologne: (value) => readSound('cologne', value),
  consonants: (value) => readSound('consonants', value),
  latin: (value) => latinForm(value),
  year: (value) => /\d{4}/.exec(value)?.[0] ?? '',
  month: (value) => sliceDate(value, 4, 6),
  day: (value) => sliceDate(value, 6, 8),
  year_month: (value) => sliceDate(value, 0, 6),
  month_day: (value) => sliceDate(value, 4, 8),
  user: (value) => value.split('@')[0] ?? '',
  domain: (value) => value.split('@')[1] ?? '',
  first_word: (value) => value.split(' ')[0] ?? '',
  last_word: (value) => value.split(' ').at(-1) ?? '',
  sorted_words: (value) => value.split(' ').sort().join(' '),
  floor: (value, [width = 1]) => floorToInterval(value, width),
  cell: (value, [width = 1]) => findCell(value, width),
}

/** `phonetics`: algorithms of the field; the view `phonetic` uses the first. */
export function createViewFunction(
  { name, numbers }: FieldView,
  phonetics = defaultNameOptions.phonetics,
): (value: string) => string {
  const applyView = viewFunctions[name]
  return (value) => applyView(value, numbers, phonetics)
}

function sliceDate(value: string, from: number, to: number): string {
  return /^\d{8}$/.test(value) ? value.slice(from, to) : ''
}

/** Returns the number of the interval of this width. */
function floorToInterval(value: string, width: number): string {
  const number = value === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? String(Math.floor(number / width)) : ''
}

/** Returns the cell of `width` degrees that contains a location. */
function findCell(value: string, width: number): string {
  const [north = '', east = ''] = value.split(',').map((part) => floorToInterval(part, width))
  return north === '' || east === '' ? '' : `${north},${east}`
}

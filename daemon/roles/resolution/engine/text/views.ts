// The named views of a normalised value; an empty view is not a shared key.
import type { FieldView, ViewName } from '../../lens/expression.ts'
import { metaphone } from './metaphone.ts'

type ViewFunction = (value: string, numbers: readonly number[]) => string

const viewFunctions: Readonly<Record<ViewName, ViewFunction>> = {
  prefix: (value, [length = 1]) => value.slice(0, length),
  suffix: (value, [length = 1]) => value.slice(-length),
  // As in SQL: the first letter is 1.
  substr: (value, [from = 1, length = 1]) => value.slice(from - 1, from - 1 + length),
  phonetic: (value) => metaphone(value),
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

export function createViewFunction({ name, numbers }: FieldView): (value: string) => string {
  const applyView = viewFunctions[name]
  return (value) => applyView(value, numbers)
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

// What each named view sees of a value in normal form; the empty string is nothing to share.
import type { View, ViewName } from '../../lens/expression.ts'
import { metaphone } from './metaphone.ts'

type See = (value: string, numbers: readonly number[]) => string

const views: Readonly<Record<ViewName, See>> = {
  prefix: (value, [length = 1]) => value.slice(0, length),
  suffix: (value, [length = 1]) => value.slice(-length),
  // As in SQL: the first letter is 1.
  substr: (value, [from = 1, length = 1]) => value.slice(from - 1, from - 1 + length),
  phonetic: (value) => metaphone(value),
  year: (value) => /\d{4}/.exec(value)?.[0] ?? '',
  month: (value) => partOfDate(value, 4, 6),
  day: (value) => partOfDate(value, 6, 8),
  year_month: (value) => partOfDate(value, 0, 6),
  month_day: (value) => partOfDate(value, 4, 8),
  user: (value) => value.split('@')[0] ?? '',
  domain: (value) => value.split('@')[1] ?? '',
  first_word: (value) => value.split(' ')[0] ?? '',
  last_word: (value) => value.split(' ').at(-1) ?? '',
  sorted_words: (value) => value.split(' ').sort().join(' '),
  floor: (value, [width = 1]) => floored(value, width),
  cell: (value, [width = 1]) => cellOf(value, width),
}

export function seeing({ name, numbers }: View): (value: string) => string {
  const see = views[name]
  return (value) => see(value, numbers)
}

function partOfDate(value: string, from: number, to: number): string {
  return /^\d{8}$/.test(value) ? value.slice(from, to) : ''
}

/** The number of the interval of this width. */
function floored(value: string, width: number): string {
  const number = value === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? String(Math.floor(number / width)) : ''
}

/** The square of so many degrees that a location lies in. */
function cellOf(value: string, width: number): string {
  const [north = '', east = ''] = value.split(',').map((part) => floored(part, width))
  return north === '' || east === '' ? '' : `${north},${east}`
}

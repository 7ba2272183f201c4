// What two records must share to be compared: coarse views of each field, and which rows have which.
import type { FieldType } from '../../lens/model.ts'
import { type Column, countsOf, viewed } from '../text/dictionary.ts'
import { metaphone } from '../text/metaphone.ts'
import { seeing } from '../text/views.ts'

/** One view of one field: each row's block, or -1, and how many rows each block has. */
export type Key = {
  readonly field: number
  readonly name: string
  readonly codes: Int32Array
  readonly sizes: Int32Array
}

type View = readonly [name: string, view: (value: string) => string]

const whole: View = ['whole', (value) => value]
const nameViews: readonly View[] = [
  whole,
  ['first 4', (value) => value.slice(0, 4)],
  ['sound', (value) => metaphone(value).slice(0, 5)],
]
const views: Readonly<Record<FieldType, readonly View[]>> = {
  name: nameViews,
  place: nameViews,
  date: [
    whole,
    ['year and month', (value) => value.slice(0, 6)],
    ['month and day', (value) => value.slice(4)],
    ['year and day', (value) => `${value.slice(0, 4)}${value.slice(6)}`],
    ['year', (value) => value.slice(0, 4)],
  ],
  code: [
    whole,
    ['first part', (value) => value.slice(0, value.length > 5 ? 3 : 2)],
    ['last part', (value) => value.slice(value.length > 5 ? -3 : -2)],
  ],
  email: [whole, ['user', (value) => value.split('@')[0] ?? ''], ['first 6', (value) => value.slice(0, 6)]],
  text: [whole, ['first 8', (value) => value.slice(0, 8)]],
  category: [whole],
  year: [whole],
  number: [whole],
  geo: [whole, ['cell of .1 degrees', seeing({ name: 'cell', numbers: [0.1] })]],
  set: [whole],
}

/** By name, what each key of a field of this type sees of a value. */
export function viewsOf(type: FieldType): readonly View[] {
  return views[type]
}

/** How many keys a field of this type has. */
export function keyCount(type: FieldType): number {
  return views[type].length
}

export function keysOf(type: FieldType, column: Column, field: number): Key[] {
  return views[type].map(([name, view]) => {
    const seen = view === whole[1] ? column : viewed(column, view)
    return { field, name, codes: seen.codes, sizes: countsOf(seen) }
  })
}

/** The views under which two values of a field of this type are the same, by name. */
export function sharedKeys(type: FieldType, one: string, other: string): string[] {
  return views[type].flatMap(([name, view]) => (view(one) !== '' && view(one) === view(other) ? [name] : []))
}

// Blocking keys: coarse views of each field. Two records are compared when they share enough of them.
import type { FieldType } from '../../lens/model.ts'
import { countRows, type DictionaryColumn, mapColumn } from '../text/dictionary.ts'
import { metaphone } from '../text/metaphone.ts'
import { createViewFunction } from '../text/views.ts'

/** One view of one field: the block of each row, or -1, and the number of rows of each block. */
export type BlockingKey = {
  readonly field: number
  readonly name: string
  readonly codes: Int32Array
  readonly sizes: Int32Array
}

type KeyView = readonly [name: string, view: (value: string) => string]

const wholeValueView: KeyView = ['whole', (value) => value]
const nameViews: readonly KeyView[] = [
  wholeValueView,
  ['first 4', (value) => value.slice(0, 4)],
  ['sound', (value) => metaphone(value).slice(0, 5)],
]
const viewsByType: Readonly<Record<FieldType, readonly KeyView[]>> = {
  name: nameViews,
  place: nameViews,
  date: [
    wholeValueView,
    ['year and month', (value) => value.slice(0, 6)],
    ['month and day', (value) => value.slice(4)],
    ['year and day', (value) => `${value.slice(0, 4)}${value.slice(6)}`],
    ['year', (value) => value.slice(0, 4)],
  ],
  code: [
    wholeValueView,
    ['first part', (value) => value.slice(0, value.length > 5 ? 3 : 2)],
    ['last part', (value) => value.slice(value.length > 5 ? -3 : -2)],
  ],
  email: [wholeValueView, ['user', (value) => value.split('@')[0] ?? ''], ['first 6', (value) => value.slice(0, 6)]],
  text: [wholeValueView, ['first 8', (value) => value.slice(0, 8)]],
  category: [wholeValueView],
  year: [wholeValueView],
  number: [wholeValueView],
  geo: [wholeValueView, ['cell of .1 degrees', createViewFunction({ name: 'cell', numbers: [0.1] })]],
  set: [wholeValueView],
  // Texts are compared as a whole by their text fields and nearest neighbours.
  codes: [],
  numbers: [],
}

/** Lists the views of the keys of a field of this type, by name. */
export function listKeyViews(type: FieldType): readonly KeyView[] {
  return viewsByType[type]
}

/** Counts the keys of a field of this type. */
export function countKeys(type: FieldType): number {
  return viewsByType[type].length
}

export function buildKeys(type: FieldType, column: DictionaryColumn, field: number): BlockingKey[] {
  return viewsByType[type].map(([name, view]) => {
    const viewed = view === wholeValueView[1] ? column : mapColumn(column, view)
    return { field, name, codes: viewed.codes, sizes: countRows(viewed) }
  })
}

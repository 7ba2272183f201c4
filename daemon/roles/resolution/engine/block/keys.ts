// Blocking keys: coarse views of each field. Two records are compared when they share enough of them.
import type { FieldType } from '../../lens/model.ts'
import { defaultNameOptions, type NameOptions, type PhoneticName } from '../../lens/phonetics.ts'
import type { FieldColumn } from '../compare/pair-comparer.ts'
import { countRows, mapColumn } from '../text/dictionary.ts'
import { hasOtherLetters, latinForm } from '../text/latin-form.ts'
import { readNicknames } from '../text/nicknames.ts'
import { readParticles } from '../text/particles.ts'
import { readSound } from '../text/phonetics/sounds.ts'
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
/** Records of one entity in two scripts share the keys of Latin forms. */
const wholeLatinView: KeyView = ['whole', latinForm]
const nameViews: readonly KeyView[] = [wholeLatinView, ['first 4', (value) => latinForm(value).slice(0, 4)]]
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
  text: [wholeLatinView, ['first 8', (value) => latinForm(value).slice(0, 8)]],
  category: [wholeValueView],
  year: [wholeValueView],
  number: [wholeValueView],
  geo: [wholeValueView, ['cell of .1 degrees', createViewFunction({ name: 'cell', numbers: [0.1] })]],
  set: [wholeValueView],
  // Texts are compared as a whole by their text fields and nearest neighbours.
  codes: [],
  numbers: [],
}

/** Letters of a sound that are a key: slips at the end of a long name do not matter. */
const max_sound_letters = 5

function listSoundViews(phonetics: readonly PhoneticName[]): KeyView[] {
  return phonetics.map((name) => [
    name === 'metaphone' ? 'sound' : `sound by ${name.replaceAll('_', ' ')}`,
    (value) => readSound(name, value).slice(0, max_sound_letters),
  ])
}

/** Lists the views of the keys of a field of this type, by name. */
export function listKeyViews(type: FieldType, names: NameOptions = defaultNameOptions): readonly KeyView[] {
  if (type !== 'name' && type !== 'place') return viewsByType[type]
  return [...nameViews, ...listSoundViews(names.phonetics), ...listFormViews(names)]
}

function listFormViews({ hasParticles, nicknames }: NameOptions): KeyView[] {
  const index = nicknames && readNicknames(nicknames)
  return [
    ...(hasParticles ? [['without particles', (value: string) => readParticles(latinForm(value)).core] as const] : []),
    ...(index ? [['nickname', (value: string) => index.nameOf(latinForm(value))] as const] : []),
  ]
}

/** Counts the keys of a field. */
export function countKeys({ type, names }: Pick<FieldColumn, 'type' | 'names'>): number {
  return listKeyViews(type, names).length
}

export function buildKeys({ type, column, names }: FieldColumn, field: number): BlockingKey[] {
  const isPlain = !hasOtherLetters(column)
  return listKeyViews(type, names).map(([name, view]) => {
    const isWhole = view === wholeValueView[1] || (isPlain && view === wholeLatinView[1])
    const viewed = isWhole ? column : mapColumn(column, view)
    return { field, name, codes: viewed.codes, sizes: countRows(viewed) }
  })
}

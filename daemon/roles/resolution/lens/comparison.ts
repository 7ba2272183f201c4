// Levels of likeness as a lens says them, in the one form that the engine compares by.
import { type View, viewOf } from './expression.ts'

export const comparators = [
  'exact',
  'jaro_winkler',
  'levenshtein',
  'damerau_levenshtein',
  'qgram_jaccard',
  'tfidf_cosine',
  'phonetic',
  'numeric',
  'date',
  'geo',
  'set_overlap',
] as const

export type Comparator = (typeof comparators)[number]

/** What a comparator finds; higher is always more alike. Distances and differences are below nought. */
export type MeasureName =
  | 'equal'
  | 'jaro_winkler'
  | 'levenshtein'
  | 'levenshtein_part'
  | 'damerau_levenshtein'
  | 'damerau_levenshtein_part'
  | 'qgram_jaccard'
  | 'tfidf_cosine'
  | 'sound'
  | 'difference'
  | 'difference_part'
  | 'days'
  | 'kilometres'
  | 'overlap'
  | 'in_common'

/** One level: the measure must be at least so much. `label` is how people read it. */
export type Level = {
  readonly measure: MeasureName
  readonly of: View | undefined
  readonly least: number
  readonly label: string
}

export type GivenLevel =
  | number
  | string
  | {
      readonly comparator?: Comparator | undefined
      readonly at?: number | string | undefined
      readonly of?: string | undefined
    }

const defaults: Readonly<Record<Comparator, readonly GivenLevel[]>> = {
  exact: [],
  jaro_winkler: [0.94, 0.88, 0.8, 0.7],
  levenshtein: [1, 2],
  damerau_levenshtein: [1, 2],
  qgram_jaccard: [0.8, 0.6, 0.4],
  tfidf_cosine: [0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05],
  phonetic: [{}],
  numeric: ['2%', '10%', '30%'],
  date: ['1d', '1m', '1y'],
  geo: [0.1, 1, 10],
  set_overlap: [0.99, 0.5, 0.2],
}

/** Levels between equal and all else, best first; a text says what is wrong, and with which. */
export function levelsIn(
  comparator: Comparator,
  given: readonly GivenLevel[] = defaults[comparator],
): readonly Level[] | { readonly at: number; readonly fault: string } {
  const levels: Level[] = []
  for (const [at, each] of given.entries()) {
    const level = levelOf(comparator, each)
    if (typeof level === 'string') return { at, fault: level }
    const before = levels.findLast(({ measure, of }) => measure === level.measure && of?.name === level.of?.name)
    if (before && before.least <= level.least && isSame(before.of, level.of)) {
      return { at, fault: 'comes after one that it is no less alike than; levels go from best to worst' }
    }
    levels.push(level)
  }
  return levels
}

function isSame(one: View | undefined, other: View | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function levelOf(usual: Comparator, given: GivenLevel): Level | string {
  const { comparator = usual, at, of } = typeof given === 'object' ? given : { at: given }
  const view = of === undefined ? undefined : viewOf(of)
  if (typeof view === 'string') return view
  const found = thresholdOf(comparator, at)
  if (typeof found === 'string') return found
  if (comparator === 'exact' && view === undefined) return 'equal values are the first level already; say `of`'
  return { ...found, of: view, label: of === undefined ? found.label : `${of} ${found.label}` }
}

type Threshold = { readonly measure: MeasureName; readonly least: number; readonly label: string }

function thresholdOf(comparator: Comparator, at: number | string | undefined): Threshold | string {
  switch (comparator) {
    case 'exact':
      return at === undefined ? { measure: 'equal', least: 1, label: 'equal' } : 'exact has no threshold'
    case 'phonetic':
      return at === undefined ? { measure: 'sound', least: 1, label: 'same sound' } : 'phonetic has no threshold'
    case 'jaro_winkler':
    case 'qgram_jaccard':
    case 'tfidf_cosine':
      return partOf(comparator, comparator.replaceAll('_', ' '), at)
    case 'levenshtein':
    case 'damerau_levenshtein':
      return typeof at === 'number' && at >= 1
        ? countOf(comparator, -1, at, (count) => `${count === 1 ? 'one edit' : `${count} edits`}`)
        : partOf(`${comparator}_part`, comparator.replaceAll('_', ' '), at)
    case 'set_overlap':
      return typeof at === 'number' && at >= 1
        ? countOf('in_common', 1, at, (count) => `${count} in common`)
        : partOf('overlap', 'overlap', at)
    case 'numeric':
      return differenceOf(at)
    case 'date':
      return spanOf(at)
    case 'geo':
      return typeof at === 'number' && at >= 0
        ? { measure: 'kilometres', least: -at, label: `within ${at} km` }
        : 'a level of geo is a distance in kilometres'
  }
}

function partOf(measure: MeasureName, name: string, at: number | string | undefined): Threshold | string {
  if (typeof at !== 'number' || !(at > 0 && at < 1)) return `a level of ${name} is a part between 0 and 1`
  return { measure, least: at, label: `${name} ${at}` }
}

function countOf(measure: MeasureName, sign: 1 | -1, at: number, label: (count: number) => string): Threshold | string {
  if (!Number.isInteger(at) || at > 1_000) return 'a level of so many is a whole number; parts are below 1'
  return { measure, least: sign * at, label: label(at) }
}

function differenceOf(at: number | string | undefined): Threshold | string {
  if (typeof at === 'number' && at >= 0) return { measure: 'difference', least: -at, label: `within ${at}` }
  const percent = typeof at === 'string' ? /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(at)?.[1] : undefined
  if (percent === undefined) return 'a level of numeric is a difference, or one in percent as in "5%"'
  return { measure: 'difference_part', least: -Number(percent) / 100, label: `within ${percent}%` }
}

/** Mean days of the Gregorian calendar. */
const days = { d: 1, m: 365.2425 / 12, y: 365.2425 } as const

function spanOf(at: number | string | undefined): Threshold | string {
  if (typeof at === 'number' && at >= 0) return { measure: 'days', least: -at, label: `within ${at} days` }
  const [, count, unit] = (typeof at === 'string' && /^(\d{1,5}(?:\.\d+)?)\s*([dmy])$/.exec(at)) || []
  if (unit === undefined) return 'a level of date is a number of days, or as in 3d, 1m or 10y'
  return { measure: 'days', least: -Number(count) * days[unit as keyof typeof days], label: `within ${at}` }
}

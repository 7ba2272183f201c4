// Parses the comparison levels of a lens into the form that the engine uses.
import { type FieldView, parseView } from './expression.ts'

/**
 * Characters of a value that a comparator of similarity reads, from its beginning: bounds the cost of a comparison.
 * Equality reads all of it.
 */
export const max_compared_characters = 1_024

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

/** Names of measures. A higher value always means more similar: distances and differences are negative. */
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

/** One level: the measure, of a view or of the whole value, must be at least `least`. `label` is for display. */
export type ComparisonLevel = {
  readonly measure: MeasureName
  readonly view: FieldView | undefined
  readonly least: number
  readonly label: string
}

export type ComparisonLevelSpec =
  | number
  | string
  | {
      readonly comparator?: Comparator | undefined
      readonly at?: number | string | undefined
      readonly of?: string | undefined
    }

const defaultLevels: Readonly<Record<Comparator, readonly ComparisonLevelSpec[]>> = {
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

/** Parses the levels between `equal` and `different`, best first; or returns the first fault and its position. */
export function parseLevels(
  comparator: Comparator,
  specs: readonly ComparisonLevelSpec[] = defaultLevels[comparator],
): readonly ComparisonLevel[] | { readonly at: number; readonly fault: string } {
  const levels: ComparisonLevel[] = []
  for (const [at, spec] of specs.entries()) {
    const level = parseLevel(comparator, spec)
    if (typeof level === 'string') return { at, fault: level }
    const before = levels.findLast(({ measure, view }) => measure === level.measure && view?.name === level.view?.name)
    if (before && before.least <= level.least && isSameView(before.view, level.view)) {
      return { at, fault: 'is not worse than an earlier level; order levels from best to worst' }
    }
    levels.push(level)
  }
  return levels
}

function isSameView(left: FieldView | undefined, right: FieldView | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function parseLevel(fieldComparator: Comparator, spec: ComparisonLevelSpec): ComparisonLevel | string {
  const { comparator = fieldComparator, at, of: viewText } = typeof spec === 'object' ? spec : { at: spec }
  const view = viewText === undefined ? undefined : parseView(viewText)
  if (typeof view === 'string') return view
  const threshold = parseThreshold(comparator, at)
  if (typeof threshold === 'string') return threshold
  if (comparator === 'exact' && view === undefined)
    return 'equal values are already the first level; set `of` to a view'
  return { ...threshold, view, label: viewText === undefined ? threshold.label : `${viewText} ${threshold.label}` }
}

type LevelThreshold = { readonly measure: MeasureName; readonly least: number; readonly label: string }

function parseThreshold(comparator: Comparator, at: number | string | undefined): LevelThreshold | string {
  switch (comparator) {
    case 'exact':
      return at === undefined ? { measure: 'equal', least: 1, label: 'equal' } : 'exact has no threshold; remove `at`'
    case 'phonetic':
      return at === undefined
        ? { measure: 'sound', least: 1, label: 'same sound' }
        : 'phonetic has no threshold; remove `at`'
    case 'jaro_winkler':
    case 'qgram_jaccard':
    case 'tfidf_cosine':
      return parseFractionThreshold(comparator, comparator.replaceAll('_', ' '), at)
    case 'levenshtein':
    case 'damerau_levenshtein':
      return typeof at === 'number' && at >= 1
        ? parseCountThreshold(comparator, -1, at, (count) => `${count === 1 ? 'one edit' : `${count} edits`}`)
        : parseFractionThreshold(`${comparator}_part`, comparator.replaceAll('_', ' '), at)
    case 'set_overlap':
      return typeof at === 'number' && at >= 1
        ? parseCountThreshold('in_common', 1, at, (count) => `${count} in common`)
        : parseFractionThreshold('overlap', 'overlap', at)
    case 'numeric':
      return parseDifferenceThreshold(at)
    case 'date':
      return parseDateThreshold(at)
    case 'geo':
      return typeof at === 'number' && at >= 0
        ? { measure: 'kilometres', least: -at, label: `within ${at} km` }
        : 'a level of geo must be a distance in kilometres, 0 or more'
  }
}

function parseFractionThreshold(
  measure: MeasureName,
  name: string,
  at: number | string | undefined,
): LevelThreshold | string {
  if (typeof at !== 'number' || !(at > 0 && at < 1)) return `a level of ${name} must be a number between 0 and 1`
  return { measure, least: at, label: `${name} ${at}` }
}

function parseCountThreshold(
  measure: MeasureName,
  sign: 1 | -1,
  at: number,
  label: (count: number) => string,
): LevelThreshold | string {
  if (!Number.isInteger(at) || at > 1_000)
    return 'a level from 1 on is a count: it must be a whole number up to 1,000; a fraction is below 1'
  return { measure, least: sign * at, label: label(at) }
}

function parseDifferenceThreshold(at: number | string | undefined): LevelThreshold | string {
  if (typeof at === 'number' && at >= 0) return { measure: 'difference', least: -at, label: `within ${at}` }
  const percent = typeof at === 'string' ? /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(at)?.[1] : undefined
  if (percent === undefined) return 'a level of numeric must be a difference of 0 or more, or a percentage as in "5%"'
  return { measure: 'difference_part', least: -Number(percent) / 100, label: `within ${percent}%` }
}

/** Mean days of each unit in the Gregorian calendar. */
const daysPerUnit = { d: 1, m: 365.2425 / 12, y: 365.2425 } as const

function parseDateThreshold(at: number | string | undefined): LevelThreshold | string {
  if (typeof at === 'number' && at >= 0) return { measure: 'days', least: -at, label: `within ${at} days` }
  const [, count, unit] = (typeof at === 'string' && /^(\d{1,5}(?:\.\d+)?)\s*([dmy])$/.exec(at)) || []
  if (unit === undefined) return 'a level of date must be a number of days, or a period as in 3d, 1m or 10y'
  return {
    measure: 'days',
    least: -Number(count) * daysPerUnit[unit as keyof typeof daysPerUnit],
    label: `within ${at}`,
  }
}

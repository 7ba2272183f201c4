// Profiles columns of data: missing values, distinct values, and the likely field type.

import type { FieldType } from '../../lens/field.ts'
import { createNormaliser } from '../text/normalisers.ts'
import type { RecordSource } from './records.ts'

export type ColumnProfile = {
  readonly column: string
  /** Likely type; undefined for a column without values or with a single one. */
  readonly type: FieldType | undefined
  readonly records: number
  readonly missing: number
  readonly distinct: number
  /** Characters of the shortest and of the longest distinct value. */
  readonly shortest: number
  readonly longest: number
  /** The most frequent values, truncated. */
  readonly samples: readonly string[]
}

const max_sample_characters = 40
const max_sampled_values = 2_000

/** Profiles the columns of a source. `wellKnownTypes`: types of columns with common names, by name. */
export function profileColumns(
  { rows, columns }: RecordSource,
  wellKnownTypes: ReadonlyMap<string, FieldType>,
): ColumnProfile[] {
  return columns.map(({ name, codes, values }) => {
    const counts = new Int32Array(values.size)
    let missing = 0
    for (const code of codes) {
      if (code < 0) missing++
      else counts[code]!++
    }
    const decoder = new TextDecoder()
    const texts = Array.from({ length: values.size }, (_, value) => decoder.decode(values.bytesOf(value)))
    const order = texts.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b)
    const lengths = texts.map(({ length }) => length)
    const type =
      texts.length < 2 ? undefined : (wellKnownTypes.get(name.toLowerCase()) ?? guessFieldType(texts, rows - missing))
    return {
      column: name,
      type,
      records: rows,
      missing,
      distinct: texts.length,
      shortest: lengths.reduce(
        (least, length) => Math.min(least, length),
        texts.length > 0 ? Number.MAX_SAFE_INTEGER : 0,
      ),
      longest: lengths.reduce((longest, length) => Math.max(longest, length), 0),
      samples: order.slice(0, 3).map((at) => texts[at]!.slice(0, max_sample_characters)),
    }
  })
}

const min_type_share = 0.9
const max_category_values = 60

/** Guesses the type: the first that fits nine of ten values. */
function guessFieldType(texts: readonly string[], records: number): FieldType {
  const step = Math.max(1, Math.floor(texts.length / max_sampled_values))
  const sampled = texts.filter((_, at) => at % step === 0).slice(0, max_sampled_values)
  const mostAre = (matches: (text: string) => boolean) =>
    sampled.filter(matches).length >= min_type_share * sampled.length
  const location = createNormaliser(['location'])
  if (mostAre((text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim()))) return 'email'
  if (mostAre((text) => /^\s*(1[5-9]|20)\d\d\s*$/.test(text))) return 'year'
  if (mostAre(isDate)) return 'date'
  if (mostAre((text) => /[.,]\d+.*[,; ].*[.,]\d+/.test(text) && location(text) !== '')) return 'geo'
  if (mostAre((text) => /^\s*[-+$€£]?\s*\d+(,\d{3})*\.\d+\s*$/.test(text))) return 'number'
  if (texts.length <= max_category_values && records >= texts.length * 20) return 'category'
  if (sampled.filter((text) => /[;|]/.test(text)).length > sampled.length / 2) return 'set'
  if (mostAre((text) => /\d/.test(text) && text.trim().split(/\s+/).length <= 2)) return 'code'
  const words = sampled.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0) / sampled.length
  if (words > 4) return 'text'
  return sampled.filter((text) => /\d/.test(text)).length > sampled.length / 3 ? 'place' : 'name'
}

function isDate(text: string): boolean {
  const digits = createNormaliser(['date'])(text)
  return /^(1[5-9]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/.test(digits) && text.trim().length <= 24
}

/** Finds the id column among columns with a unique value in each record: by name, by ending, or else any code. */
export function findIdColumn(profiles: readonly ColumnProfile[]): string | undefined {
  const unique = profiles.filter(
    ({ missing, distinct, records }) => missing === 0 && distinct === records && records > 0,
  )
  const named = unique.find(({ column }) =>
    /^(id|uid|uuid|rec_?id|record_?id|unique_?id|key|identifier)$/i.test(column),
  )
  const ending = unique.find(({ column }) => /([_ -]id|Id|ID)$/.test(column))
  return (named ?? ending ?? unique.find(({ type }) => type === 'code' || type === undefined))?.column
}

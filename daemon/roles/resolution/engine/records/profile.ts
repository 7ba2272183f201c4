// What columns of data look like: what is missing, how many values there are, and what kind of thing they are.

import type { FieldType } from '../../lens/field.ts'
import { createNormaliser } from '../text/normalisers.ts'
import type { RecordSource } from './records.ts'

export type ColumnProfile = {
  readonly column: string
  /** Undefined where nothing is said, or always the same. */
  readonly type: FieldType | undefined
  readonly records: number
  readonly missing: number
  readonly distinct: number
  /** Characters, over different values. */
  readonly shortest: number
  readonly longest: number
  /** The most frequent values, cut short. */
  readonly samples: readonly string[]
}

const max_sample_characters = 40
const max_sampled_values = 2_000

/** `known`: types of columns by their names, for those that are called as everybody calls them. */
export function profileColumns(
  { rows, columns }: RecordSource,
  known: ReadonlyMap<string, FieldType>,
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
    const type = texts.length < 2 ? undefined : (known.get(name.toLowerCase()) ?? guessFieldType(texts, rows - missing))
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

/** The first kind that nine of ten values are of. */
function guessFieldType(texts: readonly string[], records: number): FieldType {
  const step = Math.max(1, Math.floor(texts.length / max_sampled_values))
  const seen = texts.filter((_, at) => at % step === 0).slice(0, max_sampled_values)
  const are = (isSo: (text: string) => boolean) => seen.filter(isSo).length >= min_type_share * seen.length
  const location = createNormaliser(['location'])
  if (are((text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim()))) return 'email'
  if (are((text) => /^\s*(1[5-9]|20)\d\d\s*$/.test(text))) return 'year'
  if (are(isDate)) return 'date'
  if (are((text) => /[.,]\d+.*[,; ].*[.,]\d+/.test(text) && location(text) !== '')) return 'geo'
  if (are((text) => /^\s*[-+$€£]?\s*\d+(,\d{3})*\.\d+\s*$/.test(text))) return 'number'
  if (texts.length <= max_category_values && records >= texts.length * 20) return 'category'
  if (seen.filter((text) => /[;|]/.test(text)).length > seen.length / 2) return 'set'
  if (are((text) => /\d/.test(text) && text.trim().split(/\s+/).length <= 2)) return 'code'
  const words = seen.reduce((sum, text) => sum + text.trim().split(/\s+/).length, 0) / seen.length
  if (words > 4) return 'text'
  return seen.filter((text) => /\d/.test(text)).length > seen.length / 3 ? 'place' : 'name'
}

function isDate(text: string): boolean {
  const digits = createNormaliser(['date'])(text)
  return /^(1[5-9]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/.test(digits) && text.trim().length <= 24
}

/**
 * The column that names records: one that is called so or ends so, else any; every record has a value of its own there.
 */
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

// Profiles columns of data: missing values, distinct values, and the likely field type.

import type { FieldType } from '../../lens/field.ts'
import type { NormaliserName } from '../../lens/normalisers.ts'
import { recogniseColumn } from './column-kind.ts'
import { findNameHabits, type NameHabits } from './name-habits.ts'
import type { RecordSource } from './records.ts'

export type ColumnProfile = {
  readonly column: string
  /** Likely type; undefined for a column without values or with a single one. */
  readonly type: FieldType | undefined
  /** Normal form of its values, where it is not the usual one of the type. */
  readonly normalisers?: readonly NormaliserName[]
  /** Options for names that are written in several ways; undefined for other types. */
  readonly habits?: NameHabits
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
    const knownType = wellKnownTypes.get(name.toLowerCase())
    const kind = knownType ? { type: knownType } : recogniseColumn(name, texts, rows - missing)
    return {
      column: name,
      ...(texts.length < 2 ? { type: undefined } : kind),
      ...(kind.type === 'name' ? { habits: findNameHabits(texts) } : {}),
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

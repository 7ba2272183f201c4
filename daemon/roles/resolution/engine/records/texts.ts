// All that a record says in words, as one text.
import type { FieldType } from '../../lens/model.ts'
import { textOf } from '../text/dictionary.ts'
import type { Records } from './records.ts'

const wordless: ReadonlySet<FieldType> = new Set(['number', 'year', 'date', 'geo'])

/**
 * Of every record, or of those of one source. Dates, years, numbers and places on the globe are no words, and are left
 * out unless `isAll`.
 */
export function textsOf(
  { rows, sources, fields }: Pick<Records, 'rows' | 'sources' | 'fields'>,
  source?: number,
  isAll = false,
): string[] {
  const told = fields.filter(({ type }) => isAll || !wordless.has(type))
  const texts: string[] = []
  for (let row = 0; row < rows; row++) {
    if (source !== undefined && sources[row] !== source) continue
    texts.push(
      told.map(({ column }) => (column.codes[row]! < 0 ? '' : textOf(column.dictionary, column.codes[row]!))).join(' '),
    )
  }
  return texts
}

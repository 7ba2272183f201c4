// All that a record says in words, as one text.
import { textOf } from '../text/dictionary.ts'
import type { Records } from './records.ts'

/** Of every record, or of those of one source; dates, years and numbers are no words. */
export function textsOf(
  { rows, sources, fields }: Pick<Records, 'rows' | 'sources' | 'fields'>,
  source?: number,
): string[] {
  const told = fields.filter(({ type }) => type !== 'number' && type !== 'year' && type !== 'date')
  const texts: string[] = []
  for (let row = 0; row < rows; row++) {
    if (source !== undefined && sources[row] !== source) continue
    texts.push(
      told.map(({ column }) => (column.codes[row]! < 0 ? '' : textOf(column.dictionary, column.codes[row]!))).join(' '),
    )
  }
  return texts
}

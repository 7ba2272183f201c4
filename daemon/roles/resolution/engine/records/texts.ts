// Joins the words of a record into one text.
import type { FieldType } from '../../lens/model.ts'
import { decodeText } from '../text/dictionary.ts'
import { withLatinForm } from '../text/latin-form.ts'
import type { LensRecords } from './records.ts'

const wordlessTypes: ReadonlySet<FieldType> = new Set(['number', 'year', 'date', 'geo', 'codes', 'numbers'])

/** Whether the values of a type are words, and part of the text of a record. */
export function hasWords(type: FieldType): boolean {
  return !wordlessTypes.has(type)
}

/**
 * Joins the texts of every record, or of the records of one source. Dates, years, numbers and locations are not words,
 * and are omitted unless `isAll`. Values of other scripts are followed by their Latin forms, so that records in two
 * scripts are neighbours.
 */
export function joinRecordTexts(
  { rows, sources, fields }: Pick<LensRecords, 'rows' | 'sources' | 'fields'>,
  source?: number,
  isAll = false,
): string[] {
  const textFields = fields.filter(({ type }) => isAll || hasWords(type))
  const decoded = textFields.map((): (string | undefined)[] => [])
  const textIn = (field: number, row: number) => {
    const { codes, dictionary } = textFields[field]!.column
    const value = codes[row]!
    if (value < 0) return ''
    const text = decoded[field]![value] ?? withLatinForm(decodeText(dictionary, value))
    decoded[field]![value] = text
    return text
  }
  const texts: string[] = []
  for (let row = 0; row < rows; row++) {
    if (source !== undefined && sources[row] !== source) continue
    texts.push(textFields.map((_, field) => textIn(field, row)).join(' '))
  }
  return texts
}

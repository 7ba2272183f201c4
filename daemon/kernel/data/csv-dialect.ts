// The dialect of a CSV file: its delimiter, quotation mark, escape character, comments and header.
import * as z from 'zod'
import { textEncodings } from './utf8-source.ts'

/** A mark of a dialect. */
export const dialectCharacter = z
  .string()
  .regex(/^[\t\x20-\x7e]$/, 'must be one printable ASCII character, or a tab')
  .refine((text) => !/[A-Za-z0-9]/.test(text), 'must not be a letter or a digit')

/** Strings of one character each. */
export const csvDialect = z
  .strictObject({
    delimiter: dialectCharacter.default(',').describe('Separates the fields of a record.'),
    quote: dialectCharacter
      .or(z.literal(''))
      .default('"')
      .describe('Encloses a field that contains delimiters, quotation marks or line ends. Empty: none does.'),
    escape: dialectCharacter
      .default('"')
      .describe(
        'Within a quoted field: makes the next character a part of the value. Usually the quotation mark itself.',
      ),
    comment: dialectCharacter.optional().describe('A line that begins with this character is skipped.'),
    header: z.boolean().default(true).describe('Whether the first record has the names of the columns.'),
    encoding: z
      .enum(textEncodings)
      .default('utf-8')
      .describe('Encoding of a file without a byte order mark. A byte order mark always decides.'),
  })
  .refine(({ delimiter, quote, comment }) => new Set([delimiter, quote, comment]).size === 3, {
    message: 'delimiter, quote and comment must differ',
  })
  .refine((dialect) => dialect.escape !== dialect.delimiter && dialect.escape !== dialect.comment, {
    message: 'escape must differ from delimiter and comment',
  })
export type CsvDialect = z.infer<typeof csvDialect>

/** The byte of a mark of the dialect; -1, which no byte is, for one that the dialect does not have. */
export function markByte(mark: string | undefined): number {
  return mark ? mark.charCodeAt(0) : -1
}

/** Comma-separated values as RFC 4180 has them. */
export const usualCsv: CsvDialect = csvDialect.parse({})

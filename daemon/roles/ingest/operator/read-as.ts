// How a task reads its file, where neither the name of the file nor its content is to decide.
import * as z from 'zod'
import { dialectCharacter } from '../../../kernel/data/csv-dialect.ts'
import { textEncodings } from '../../../kernel/data/utf8-source.ts'

/** Formats of data files. */
export const fileFormats = ['csv', 'tsv', 'json', 'jsonl', 'geojson', 'xml', 'avro', 'parquet', 'xlsx'] as const

export const readAs = z
  .strictObject({
    format: z.enum(fileFormats).optional().meta({ description: 'Default: by the extension of the file, or else CSV' }),
    encoding: z
      .enum(textEncodings)
      .optional()
      .meta({ description: 'Of text without a byte order mark (default: found in the file)' }),
    delimiter: dialectCharacter
      .optional()
      .meta({ description: 'Between the values of a line (default: found in the file)' }),
    pointer: z
      .string()
      .max(1_024)
      .regex(/^(\/.*)?$/, 'must begin with /')
      .optional()
      .meta({
        description: 'List of records in a JSON document, or elements of XML that are records (default: the only ones)',
      }),
    sheet: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'Sheet of a workbook, by name or number (default: the first that is not hidden)' }),
  })
  .meta({ description: 'How the file is read' })

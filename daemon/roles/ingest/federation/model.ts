// The message of a part of a dataset between sites: schema ingest.dataset/1. A dataset is as many parts as its rows need.
import * as z from 'zod'
import { dataColumn } from '../../../kernel/data/data-schema.ts'

export const dataset_part_schema = 'ingest.dataset/1'

/** Parts of one dataset. */
export const max_parts = 10_000
/** Values of a row, and so columns, that leave room for rows in one body. */
export const max_sent_columns = 1_000
/** Characters of the names of all columns together: each part is compared with what the others say of them. */
export const max_name_characters = 262_144
/** Bytes of the rows of a part as JSON lines, which repeat the name of each column in each row. */
export const max_part_line_bytes = 8_388_608

/** As the sender names what it sends, and a receiving pipeline what it takes. */
export const datasetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, _ and -, at most 63')

const columnName = z.string().min(1).max(1_024)

export const datasetPart = z
  .strictObject({
    set_id: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .meta({ description: 'The same for all parts of a dataset, and for no other' }),
    name: datasetName.meta({ description: 'Name of the dataset, by which a pipeline of the receiver takes it' }),
    number: z.int().min(1).max(max_parts).meta({ description: 'Of this part, from 1' }),
    parts: z.int().min(1).max(max_parts).meta({ description: 'Parts of the dataset' }),
    total_rows: z.int().min(0).meta({ description: 'Rows of all parts' }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .meta({ description: 'SHA-256 of the rows of all parts as JSON lines; see docs/filedrop-format.md' }),
    columns: z
      .array(dataColumn.pick({ type: true, unit: true }).extend({ name: columnName }))
      .min(1)
      .max(max_sent_columns)
      .meta({ description: 'In the order of the values of each row' }),
    rows: z
      .array(z.array(z.string().nullable()).max(max_sent_columns))
      .max(40_000)
      .meta({ description: 'Values as text in the form of the type of their column; null for a missing one' }),
  })
  .refine(({ number, parts }) => number <= parts, 'number must be at most parts')
  .refine(
    ({ columns }) => countNameCharacters(columns) <= max_name_characters,
    `the names of all columns must have at most ${max_name_characters} characters together`,
  )
  .refine(
    ({ columns, rows }) => rows.every((row) => row.length === columns.length),
    'each row must have a value for each column',
  )
export type DatasetPart = z.output<typeof datasetPart>
export type SentColumn = DatasetPart['columns'][number]

export function countNameCharacters(columns: readonly { readonly name: string }[]): number {
  return columns.reduce((sum, { name }) => sum + name.length, 0)
}

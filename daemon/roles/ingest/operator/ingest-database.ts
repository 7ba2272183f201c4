// Reads a table behind a connection, and lands it as a dataset.
import * as z from 'zod'
import { shortText, uid } from '../fields.ts'
import { operator } from './operator.ts'

/**
 * There is no query: one of a stranger can keep SQLite busy without end, in code that no thread is ended in. See
 * docs/decisions/0108-connections.md.
 */
const cursorFields = {
  cursor_column: shortText.optional().meta({
    description:
      'A column whose values grow with each new row: each run reads the rows that are new since the run before. Has a value in every row',
  }),
  only_new: z
    .literal(true)
    .optional()
    .meta({ description: 'Of Parquet files: each run reads the files that no run before has landed' }),
  cursor_generation: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .meta({ description: 'Another number than before reads all from the beginning, once' }),
}

export const ingestDatabase = operator({
  name: 'ingest_database',
  summary: 'Read a table, an index, keys or Parquet files by a connection, and land them as Parquet with their types',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: z.strictObject({
    connection_id: uid.meta({ description: 'The uid of a connection; no other pipeline reads by it' }),
    table: shortText.optional().meta({
      description: 'Table, index or pattern of keys; default: the index of the connection. Parquet files have none',
    }),
    columns: z.array(shortText).min(1).max(1_000).optional().meta({ description: 'Columns to read (default: all)' }),
    values: z
      .enum(['text', 'json'])
      .optional()
      .meta({ description: 'Of strings of Redis: text (default), or objects of JSON, whose fields are columns' }),
    ...cursorFields,
    max_rejects: z.int().min(0).default(0).meta({ description: 'Rows that may be rejected; more fail the task' }),
  }),
})

// Writes a dataset as one file that others take from the site.
import * as z from 'zod'
import { operator } from './operator.ts'

export const write = operator({
  name: 'write',
  summary: 'Write a dataset as a CSV, JSON lines or Parquet file into the output folder of the pipeline',
  inputs: { min: 1, max: 1 },
  makes_dataset: false,
  params: z.strictObject({
    file: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}\.(?:csv|jsonl|parquet)$/,
        'must be a name without folders, of letters, digits and _ . -, that ends in .csv, .jsonl or .parquet',
      )
      .meta({ description: 'Replaces a file of the name once all of the new one is on disk' }),
  }),
})

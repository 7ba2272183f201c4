// Downloads objects of a store, and lands them as a dataset.
import * as z from 'zod'
import { uid } from '../fields.ts'
import { ingestDatabase } from './ingest-database.ts'
import { operator } from './operator.ts'
import { readAs } from './read-as.ts'

const max_objects_of_run = 10_000
const max_pattern = 256

export const ingestObjects = operator({
  name: 'ingest_objects',
  summary:
    'Download objects of a store (aws_s3, azure_blob, gcs, sharepoint) by a connection, and land them as Parquet with their types, as ingest_file does',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: z.strictObject({
    connection_id: uid.meta({ description: 'The uid of a connection; no other pipeline reads by it' }),
    prefix: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .meta({ description: 'Beginning of the keys, after the prefix of the connection' }),
    pattern: z.string().min(1).max(max_pattern).optional().meta({
      description:
        'Of the rest of the key, such as **/*.csv: * is any text without a slash, ** any text, ? one character (default: all objects)',
    }),
    only_new: z
      .literal(true)
      .optional()
      .meta({ description: 'Each run reads the objects that no run before has landed, by key, size and version' }),
    max_objects: z
      .int()
      .min(1)
      .max(max_objects_of_run)
      .default(1_000)
      .meta({ description: 'Objects of a run; with only_new the next run takes the rest, else more fail the task' }),
    cursor_generation: ingestDatabase.params.shape.cursor_generation,
    read_as: readAs.optional().meta({ description: 'How each object is read; its format by default by its key' }),
    max_rejects: z.int().min(0).default(0).meta({ description: 'Rows that may be rejected; more fail the task' }),
  }),
})

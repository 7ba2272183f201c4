// A landed dataset: a folder of Parquet files with the description of their content and origin.
import * as z from 'zod'
import { dataColumn } from './data-schema.ts'

/** Name of the description in the folder. It is written last. */
export const dataset_manifest_name = 'dataset.json'
/** Name of the file of records that were left out. */
export const dataset_rejects_name = 'rejects.jsonl'
/** Name of a file of the places that rows come from; see `row-origins.ts`. `number`: from 1. */
export const originsName = (number: number) => `origins-${number}.jsonl`

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

const datasetFile = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
    .describe('Name in the folder of the dataset.'),
  bytes: count,
  sha256: digest,
})

const datasetInput = z.strictObject({
  name: z.string().max(4_096).describe('Name of the file, without its folder; of an object its key.'),
  bytes: count,
  sha256: digest,
  read_as: z
    .record(z.string().max(64), z.string().max(1_024))
    .describe(
      'How the file was read: format, and encoding, delimiter, quotation mark, sheet, pointer or srs (reference system of coordinates that are not of WGS 84) where it has them.',
    ),
  is_source: z
    .literal(true)
    .optional()
    .describe('The rows of a source in the order in which it gave them: there is no file of this name.'),
  rows: count.describe('Rows that were taken: those that landed, or of which the dataset was made.'),
  rejects: count,
})

const widening = z.strictObject({
  column: z.string(),
  from: z.string().max(64).describe('Type that the values before allow.'),
  to: z.string().max(64),
  input: z.string().max(4_096),
  place: count.optional().describe('Line, row of a sheet, or number of the record with the value.'),
  unit: z.enum(['row', 'record']).optional().describe('Unit of `place`; default line.'),
  value: z.string().describe('The beginning of the value.'),
})

const check = z.strictObject({
  rule: z.string().max(256),
  on_failure: z.enum(['reject', 'count', 'end']),
  rows: count.describe('Rows that were tested.'),
  failed: count.describe('Rows for which the rule does not hold.'),
})

/** Kinds of values that a cursor column may have. */
const cursorTypes = ['integer', 'decimal', 'date', 'local_timestamp', 'timestamp', 'text'] as const

/** Rows of one value that a description names at most. */
export const max_rows_of_value = 100_000
/** Objects of a store that it names at most. */
export const max_known_objects = 100_000
/** Files that it names at most. */
export const max_known_files = 10_000

const rowPosition = z.strictObject({
  column: z.string(),
  type: z.enum(cursorTypes),
  value: z.string().max(1_024).describe('The greatest value so far, as the source writes it.'),
  rows: z
    .array(z.string().max(22))
    .max(max_rows_of_value)
    .describe('Digests of the rows with this value that have landed: further ones may arrive.'),
})

/** Messages that a description names at most: those of a run, and those of runs before that may come again. */
export const max_known_messages = 100_000

const messageDigests = z.array(z.string().length(22)).max(max_known_messages)

const datasetCursor = z.strictObject({
  of: digest.describe('The source, and what is read of it.'),
  after: digest.optional().describe('Digest of the description at whose cursor the reading began.'),
  position: rowPosition.optional().describe('Where the next reading begins. Absent: no row was there yet.'),
  files: z
    .array(z.strictObject({ name: z.string().max(4_096), bytes: count, sha256: digest }))
    .max(max_known_files)
    .optional()
    .describe('Files that have landed.'),
  objects: z
    .array(z.string().max(22))
    .max(max_known_objects)
    .optional()
    .describe('Digests of the objects that have landed, by key, size and version.'),
  messages: z
    .strictObject({
      landed: messageDigests.describe('Digests of the messages that have landed with this dataset.'),
      earlier: messageDigests.describe('Of messages of datasets before whose acknowledgement is not known.'),
    })
    .optional()
    .describe('Messages of a queue, which may deliver them again as long as it does not know that they have landed.'),
  offsets: z
    .record(z.string().max(256), z.string().regex(/^\d{1,20}$/))
    .optional()
    .describe('The next offset to read, by partition, of a source that keeps its messages.'),
  epochs: z
    .record(z.string().max(256), z.int().min(0))
    .optional()
    .describe('The term of the leader that wrote the message before, by partition, where the source has such.'),
  log: z.string().max(64).optional().describe('Id of the topic with these offsets, where the source has one.'),
})

/** The content of `dataset.json`. */
export const landedDataset = z.strictObject({
  format: z.literal(1),
  columns: z.array(dataColumn).max(4_096).describe('In the order of the files.'),
  rows: count,
  files: z
    .array(datasetFile.extend({ rows: count }))
    .max(100_000)
    .describe('Parquet files, in the order of their rows.'),
  inputs: z.array(datasetInput).max(10_000),
  rejects: z.strictObject({ rows: count, file: datasetFile.optional() }).describe('Records that were left out.'),
  origins: z
    .array(datasetFile)
    .max(2)
    .optional()
    .describe(
      'Files of the places that its rows come from, in ranges; of a join, one for each of both datasets. Empty where a row is made of many. Absent in datasets of an earlier release.',
    ),
  media: z
    .array(datasetFile)
    .max(20_000)
    .optional()
    .describe('Inputs that landed as they are, which rows name in the column media, and the small images within them.'),
  widened: z
    .array(widening)
    .describe('Values that made the inferred type of a column wider than that of the values before them.'),
  checks: z.array(check).max(1_000).optional().describe('Rules by which the rows were tested.'),
  cursor: datasetCursor.optional().describe('Of an incremental reading: what has landed up to and with this dataset.'),
})
export type LandedDataset = z.infer<typeof landedDataset>
export type DatasetInput = LandedDataset['inputs'][number]
export type MediaFile = NonNullable<LandedDataset['media']>[number]
export type DatasetFile = LandedDataset['files'][number]
export type ColumnWidening = LandedDataset['widened'][number]
export type DatasetCheck = z.infer<typeof check>
export type DatasetCursor = z.infer<typeof datasetCursor>
export type RowPosition = z.infer<typeof rowPosition>
export type CursorType = RowPosition['type']

// Reads the records of an open data file of any supported kind, for commands and threads.
import { extname } from 'node:path'
import { csvDialect, usualCsv } from '../../../kernel/data/csv-dialect.ts'
import type { DataBlocks } from '../../../kernel/data/data-block.ts'
import { DataFault, not_utf8 } from '../../../kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../kernel/data/read-options.ts'
import { collectColumns } from '../../../roles/resolution/engine/records/collect-columns.ts'
import type { IdLimit, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { type DataFile, DataFileError } from './data-file.ts'
import { TenantDataFileError } from './tenant-data-file.ts'

/** Formats of results. */
export const resultKinds = ['csv', 'jsonl', 'parquet'] as const
export type ResultKind = (typeof resultKinds)[number]
export type DataKind = ResultKind | 'tsv'

const tabs = csvDialect.parse({ delimiter: '\t' })

/** Separates the items of a list; fields that are sets split at it. */
const list_separator = '|'

const kindsByExtension: Readonly<Record<string, DataKind>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
  '.pq': 'parquet',
}

/** File name extensions of each kind. */
export const readableExtensions = Object.keys(kindsByExtension)

/** Infers the kind from the extension; undefined for an unknown one. */
export function inferDataKind(file: string): DataKind | undefined {
  return kindsByExtension[extname(file).toLowerCase()]
}

export type RecordReadOptions = {
  readonly kind: DataKind
  /** Selects the columns to read; others are skipped. */
  readonly isWanted: (column: string) => boolean
  /** The id column, where there is one. */
  readonly id?: IdLimit | undefined
  /** More records than this are a fault. */
  readonly rows?: number
  /** Receives the bytes read so far and in total. May throw, which ends the reading. */
  readonly onProgress: (done: number, total: number) => void
}

/** Throws faults that `describeDataFault` describes, and what `onProgress` throws. */
export async function readRecords(file: DataFile, options: RecordReadOptions): Promise<Omit<RecordSource, 'name'>> {
  const columns = await collectColumns(await openBlocks(file, options))
  file.checkUnchanged()
  return columns
}

/** Returns the blocks of the file. Reading them throws what `readRecords` throws. */
export async function openBlocks(
  file: DataFile,
  { kind, isWanted, id, rows = usualLimits.rows, onProgress }: RecordReadOptions,
): Promise<DataBlocks> {
  const maxFieldBytes = (name: string) => {
    const max_bytes = usualLimits.maxFieldBytes(name)
    return id?.name === name ? Math.min(id.bytes, max_bytes) : max_bytes
  }
  const limits = { ...usualLimits, rows, maxFieldBytes }
  return await openers[kind](file, { limits, isSelected: isWanted }, (done) => onProgress(done, file.size))
}

type BlockOpener = (
  file: DataFile,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void,
) => Promise<DataBlocks>

/** Formats are loaded when a file of them is read. */
const openers: Readonly<Record<DataKind, BlockOpener>> = {
  async csv(file, options, onRead) {
    const { readCsv } = await import('../../../../adapters/format/csv/read-csv.ts')
    return readCsv(file.text(onRead), usualCsv, options)
  },
  async tsv(file, options, onRead) {
    const { readCsv } = await import('../../../../adapters/format/csv/read-csv.ts')
    return readCsv(file.text(onRead), tabs, options)
  },
  async jsonl(file, options, onRead) {
    const { readJsonLines } = await import('../../../../adapters/format/json-lines/read-json-lines.ts')
    return readJsonLines(file.text(onRead), list_separator, options)
  },
  async parquet(file, options, onRead) {
    const { readParquet } = await import('../../../../adapters/format/parquet/read-parquet.ts')
    return readParquet(file, list_separator, options, onRead)
  },
}

/** Describes a fault of the file, to continue a sentence after its name; undefined for other errors. */
export function describeDataFault(
  error: unknown,
): { readonly text: string; readonly remedy?: string | undefined } | undefined {
  if (error instanceof DataFault) {
    const text = `${error.place ? ',' : ':'} ${error.message}`
    const remedy = 'write all of it as UTF-8; of ISO 8859-1: `iconv -f ISO-8859-1 -t UTF-8`'
    return { text, remedy: error.reason === not_utf8 ? remedy : undefined }
  }
  if (error instanceof TenantDataFileError) return { text: `: ${error.message}` }
  if (error instanceof DataFileError) return { text: ` ${error.message}`, remedy: error.remedy }
  return undefined
}

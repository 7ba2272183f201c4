// How a data file was read: for the summary of a run, and as remarks for the person who named the file.
import type { DataFormat, DataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { TextEncodingName } from '../../../kernel/data/utf8-source.ts'
import type { ColumnMatch } from '../../../roles/resolution/engine/records/match-columns.ts'
import type { BadRow, BadRowCollector } from './bad-rows.ts'
import type { UnreadColumns } from './unread-columns.ts'

export type FileReading = {
  readonly format: DataKind
  /** Of text. */
  readonly encoding?: TextEncodingName | undefined
  /** Of text with columns; absent where there is one column. */
  readonly delimiter?: string | undefined
  /** The mark that encloses values; empty for none. */
  readonly quote?: string | undefined
  /** Of a workbook; of a GeoPackage, the layer. */
  readonly sheet?: string | undefined
  /** Reference system of coordinates that are not of WGS 84. */
  readonly srs?: string | undefined
  /** Columns under another name than in the file: by the name of the lens, that of the file. */
  readonly columns?: Readonly<Record<string, string>> | undefined
  /** Columns that no field of the lens reads; absent if there is none. */
  readonly not_compared?: UnreadColumns
  readonly rows: number
  readonly bad_rows: number
  /** The first bad rows, with their lines. */
  readonly first_bad_rows?: readonly BadRow[]
  readonly remarks: readonly string[]
}

/** `rows`: without the bad ones. */
export function toFileReading(
  { kind, encoding, delimiter, quote, isSingleColumn, sheet, srs }: DataFormat,
  remarks: readonly string[],
  rows: number,
  bad: BadRowCollector,
  matched: readonly ColumnMatch[],
): FileReading {
  return {
    format: kind,
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && !isSingleColumn && { delimiter }),
    ...(quote !== undefined && { quote }),
    ...(sheet !== undefined && { sheet }),
    ...(srs !== undefined && { srs }),
    ...(matched.length > 0 && { columns: Object.fromEntries(matched.map(({ name, column }) => [name, column])) }),
    rows,
    bad_rows: bad.count,
    ...(bad.count > 0 && { first_bad_rows: bad.first }),
    remarks,
  }
}

/** The reading as the summary of a run has it. */
export type ReadingSummary = Omit<FileReading, 'remarks'>

export function summarizeReading({ remarks: _remarks, ...summary }: FileReading): ReadingSummary {
  return summary
}

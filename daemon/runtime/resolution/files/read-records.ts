// Reads the records of an open data file of any kind, for commands and threads.
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { type DataFormat, openBlocks } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { DataBlocks } from '../../../kernel/data/data-block.ts'
import { type DataReadOptions, usualLimits } from '../../../kernel/data/read-options.ts'
import { collectColumns } from '../../../roles/resolution/engine/records/collect-columns.ts'
import type { IdLimit, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { restoreFormulas } from './restore-formulas.ts'

export type RecordReadOptions = DataFormat & {
  /** Selects the columns to read; others are skipped. */
  readonly isWanted: (column: string) => boolean
  readonly isOptional?: DataReadOptions['isOptional']
  /** The id column, where there is one. */
  readonly id?: IdLimit | undefined
  /** Whether the column may be that of the ids (default: by the name of it). */
  readonly isId?: ((column: string) => boolean) | undefined
  /** More records than this are a fault. */
  readonly rows?: number
  /** Receives the records that are left out; without it, the first fault ends the reading. */
  readonly onReject?: DataReadOptions['onReject']
  readonly hasLines?: boolean
  /** Reads a cell of CSV that a result disarmed as the text that it stands for. */
  readonly restoresFormulas?: boolean
  /** Receives the bytes read so far and in total. May throw, which ends the reading. */
  readonly onProgress: (done: number, total: number) => void
}

/** Throws faults that `describeDataFault` describes, and what `onProgress` throws. */
export async function readRecords(file: DataFile, options: RecordReadOptions): Promise<Omit<RecordSource, 'name'>> {
  const columns = await collectColumns(await openRecordBlocks(file, options))
  file.checkUnchanged()
  return columns
}

/** Returns the blocks of the file. Reading them throws what `readRecords` throws. */
export async function openRecordBlocks(
  file: DataFile,
  {
    isWanted,
    isOptional,
    id,
    isId = (column) => column === id?.name,
    rows = usualLimits.rows,
    onReject,
    hasLines,
    restoresFormulas = false,
    onProgress,
    ...format
  }: RecordReadOptions,
): Promise<DataBlocks> {
  const maxFieldBytes = (name: string) => {
    const max_bytes = usualLimits.maxFieldBytes(name)
    return id && isId(name) ? Math.min(id.bytes, max_bytes) : max_bytes
  }
  const limits = { ...usualLimits, rows, maxFieldBytes }
  const options = { limits, isSelected: isWanted, isOptional, onReject, hasLines }
  const blocks = await openBlocks(file, format, options, onProgress)
  return restoresFormulas && format.kind === 'csv' ? restoreFormulas(blocks) : blocks
}

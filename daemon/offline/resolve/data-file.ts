// Reads records from a file of any kind that is known, piece by piece, whatever its size.
import { basename } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { CsvLimits } from '../../roles/resolution/engine/records/csv.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { type DataFile, openDataFile } from '../../runtime/resolution/data-file.ts'
import { type DataKind, describeDataFault, inferDataKind, readRecords } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

export type DataFileOptions = {
  /** What the file is, whatever its name says. */
  readonly kind?: DataKind | undefined
  /** The column that names a record, where there is one. */
  readonly id?: CsvLimits['id']
  /** Bytes that have been read, and all there are. It may throw, and reading ends with that. */
  readonly tell?: ((done: number, total: number) => void) | undefined
}

/**
 * Columns that are not wanted are read over. A file is what its ending says, comma-separated values unless it says more.
 * Throws `OfflineCommandError` (1): what is wrong with the file, and in which line.
 */
export async function readDataFile(
  file: string,
  isWanted: (name: string) => boolean,
  { kind = detectDataKind(file), id, tell = () => undefined }: DataFileOptions = {},
): Promise<RecordSource> {
  const read = await withDataFile(file, (opened) => readRecords(opened, { kind, isWanted, id, onProgress: tell }))
  return { name: basename(file), ...read }
}

/** What `read` makes of an open file that stays as it is. Throws `OfflineCommandError` (1): what is wrong with it. */
export async function withDataFile<T>(file: string, read: (opened: DataFile) => T | Promise<T>): Promise<T> {
  try {
    const opened = runAsInvoker(() => openDataFile(file))
    try {
      const done = await read(opened)
      opened.checkUnchanged()
      return done
    } finally {
      opened.close()
    }
  } catch (error) {
    const fault = describeDataFault(error)
    if (fault) throw new OfflineCommandError(1, `${file}${fault.text}`, fault.remedy)
    throw error
  }
}

/** By the ending of its name; comma-separated values unless that says more. */
export function detectDataKind(file: string): DataKind {
  return inferDataKind(file) ?? 'csv'
}

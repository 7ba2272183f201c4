// Reads records from a data file in chunks, whatever its size.
import { basename } from 'node:path'
import { type DataFile, openDataFile } from '../../../adapters/platform/data-file/data-file.ts'
import { type DataKind, inferDataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { describeDataFault } from '../../../adapters/platform/data-file/describe-data-fault.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { findSeparator, type IdLimit, type RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { readRecords } from '../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

export type DataFileOptions = {
  /** Format of the file, regardless of its ending. */
  readonly kind?: DataKind | undefined
  /** Character between values, instead of the usual one of the format. */
  readonly delimiter?: string | undefined
  /** The id column, if there is one. */
  readonly id?: IdLimit | undefined
  /** Receives the bytes read and the size of the file. Reading ends if it throws. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/**
 * Reads the selected columns. The ending of the file selects its format; the default is comma-separated values. Throws
 * `OfflineCommandError` (1) with the fault and its line.
 */
export async function readDataFile(
  file: string,
  isWanted: (name: string) => boolean,
  { kind = detectDataKind(file), delimiter, id, onProgress = () => undefined }: DataFileOptions = {},
): Promise<RecordSource> {
  const options = { kind, delimiter, isWanted, id, onProgress }
  const content = await withDataFile(file, (openFile) => readRecords(openFile, options))
  return { name: basename(file), ...content }
}

/** Opens the file, runs `read`, and checks that the file did not change. Throws `OfflineCommandError` (1) with the fault. */
export async function withDataFile<T>(file: string, read: (openFile: DataFile) => T | Promise<T>): Promise<T> {
  try {
    const openFile = runAsInvoker(() => openDataFile(file))
    try {
      const result = await read(openFile)
      openFile.checkUnchanged()
      return result
    } finally {
      openFile.close()
    }
  } catch (error) {
    const fault = describeDataFault(error)
    if (fault) throw new OfflineCommandError(1, `${file}${fault.text}`, fault.remedy)
    throw error
  }
}

/** For a file besides the data, which is read as comma-separated values unless its ending says otherwise. */
export function missingColumns(
  file: string,
  missing: readonly string[],
  names: readonly string[],
): OfflineCommandError {
  const separator = findSeparator(names)
  const remedy =
    separator &&
    `it seems separated by ${JSON.stringify(separator)}: separate its values by commas, or by tabs in a .tsv`
  return new OfflineCommandError(1, `${file} has no column ${missing.join(', ')}; it has ${names.join(', ')}`, remedy)
}

/** The format by the ending of the name (default: comma-separated values). */
export function detectDataKind(file: string): DataKind {
  return inferDataKind(file) ?? 'csv'
}

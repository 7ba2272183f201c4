// Reads records from a file of any kind that is known, piece by piece, whatever its size.
import { basename } from 'node:path'
import type { CsvLimits } from '../../roles/resolution/engine/records/csv.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import { asInvoker } from '../acting.ts'
import { type OpenFile, openDataFile } from '../resolution/data-bytes.ts'
import { type DataKind, faultIn, kindOf, readRecords } from '../resolution/read-records.ts'
import { Objection } from './objection.ts'

export type Reading = {
  /** What the file is, whatever its name says. */
  readonly kind?: DataKind | undefined
  /** The column that names a record, where there is one. */
  readonly id?: CsvLimits['id']
  /** Bytes that have been read, and all there are. It may throw, and reading ends with that. */
  readonly tell?: ((done: number, total: number) => void) | undefined
}

/**
 * Columns that are not wanted are read over. A file is what its ending says, comma-separated values unless it says more.
 * Throws `Objection` (1): what is wrong with the file, and in which line.
 */
export async function readDataFile(
  file: string,
  isWanted: (name: string) => boolean,
  { kind = dataKindOf(file), id, tell = () => undefined }: Reading = {},
): Promise<Source> {
  const read = await withDataFile(file, (opened) => readRecords(opened, { kind, isWanted, id, tell }))
  return { name: basename(file), ...read }
}

/** What `read` makes of an open file that stays as it is. Throws `Objection` (1): what is wrong with it. */
export async function withDataFile<T>(file: string, read: (opened: OpenFile) => T | Promise<T>): Promise<T> {
  try {
    const opened = asInvoker(() => openDataFile(file))
    try {
      const done = await read(opened)
      opened.checkUnchanged()
      return done
    } finally {
      opened.close()
    }
  } catch (error) {
    const fault = faultIn(error)
    if (fault) throw new Objection(1, `${file}${fault.text}`, fault.remedy)
    throw error
  }
}

/** By the ending of its name; comma-separated values unless that says more. */
export function dataKindOf(file: string): DataKind {
  return kindOf(file) ?? 'csv'
}

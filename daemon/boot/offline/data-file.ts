// Reads records from a file, chunk by chunk, whatever its size.
import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { CsvReader, DataFault } from '../../roles/resolution/engine/records/csv.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import { asInvoker } from '../acting.ts'
import { Objection } from './objection.ts'

const chunk_bytes = 4_194_304
/** What one field and one file may hold. */
export const data_limits = { field_bytes: 1_048_576, rows: 50_000_000 }

/** Columns that are not wanted are read over. Throws `Objection` (1), with the line where the file is broken. */
export function readDataFile(file: string, isWanted: (name: string) => boolean): Source {
  const reader = new CsvReader(data_limits, isWanted)
  try {
    asInvoker(() => pushFile(file, reader))
    return { name: basename(file), ...reader.finish() }
  } catch (error) {
    if (error instanceof DataFault) throw new Objection(1, `${file}, ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a folder',
      EACCES: 'it may not be read by this user',
    }
    if (code === undefined) throw error
    throw new Objection(1, `${file} cannot be read: ${reasons[code] ?? code}`)
  }
}

function pushFile(file: string, reader: CsvReader): void {
  const opened = openSync(file, 'r')
  try {
    const chunk = new Uint8Array(chunk_bytes)
    for (let read = readSync(opened, chunk); read > 0; read = readSync(opened, chunk)) {
      reader.push(chunk.subarray(0, read))
    }
  } finally {
    closeSync(opened)
  }
}

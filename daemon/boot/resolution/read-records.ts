// Reads the records of an open data file by its kind, which its name tells.
import { fstatSync, readSync } from 'node:fs'
import { CsvReader, separators } from '../../roles/resolution/engine/records/csv.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'

export type Reading = {
  readonly opened: number
  readonly name: string
  readonly isWanted: (column: string) => boolean
  readonly limits: { readonly field_bytes: number; readonly rows: number }
  /** Bytes that are read, of all there are. */
  readonly tell: (done: number, total: number) => void
}

type Read = (reading: Reading) => Omit<Source, 'name'>

/** By the ending of the name. */
const kinds: Readonly<Record<string, Read>> = {
  '.csv': (reading) => readCsv(reading, separators.comma),
  '.tsv': (reading) => readCsv(reading, separators.tab),
}

export const readable = Object.keys(kinds)

export function kindOf(name: string): Read | undefined {
  return kinds[/\.[^./]+$/.exec(name.toLowerCase())?.[0] ?? '']
}

const chunk_bytes = 4_194_304

function readCsv({ opened, isWanted, limits, tell }: Reading, separator: number): Omit<Source, 'name'> {
  const reader = new CsvReader(limits, isWanted, separator)
  const total = fstatSync(opened).size
  const chunk = new Uint8Array(chunk_bytes)
  let done = 0
  for (let read = readSync(opened, chunk); read > 0; read = readSync(opened, chunk)) {
    reader.push(chunk.subarray(0, read))
    done += read
    tell(done, total)
  }
  return reader.finish()
}

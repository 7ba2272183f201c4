// Reads the records of an open data file by its kind, which its name tells.
import { type CsvLimits, CsvReader, separators } from '../../roles/resolution/engine/records/csv.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import type { OpenFile } from './data-bytes.ts'

export type Reading = {
  readonly opened: OpenFile
  readonly isWanted: (column: string) => boolean
  readonly limits: CsvLimits
  /** Bytes that are read, of all there are. */
  readonly tell: (done: number, total: number) => void
}

/** Throws `DataFault` and `FileFault`: what is wrong with the data or the file, the same as for commands. */
type Read = (reading: Reading) => Omit<Source, 'name'>

/** By the ending of the name. */
const kinds: Readonly<Record<string, Read>> = {
  '.csv': (reading) => readText(reading, separators.comma),
  '.tsv': (reading) => readText(reading, separators.tab),
}

export const readable = Object.keys(kinds)

export function kindOf(name: string): Read | undefined {
  return kinds[/\.[^./]+$/.exec(name.toLowerCase())?.[0] ?? '']
}

function readText({ opened, isWanted, limits, tell }: Reading, separator: number): Omit<Source, 'name'> {
  const reader = new CsvReader(limits, isWanted, separator)
  opened.eachText((bytes, done) => {
    reader.push(bytes)
    tell(done, opened.size)
  })
  opened.checkUnchanged()
  return reader.finish()
}

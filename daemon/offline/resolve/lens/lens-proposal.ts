// Looks at the beginning of a file of data and proposes a lens for it.
import { basename, extname } from 'node:path'
import { DataFault } from '../../../roles/resolution/engine/records/csv.ts'
import { type ColumnProfile, findIdColumn, profileColumns } from '../../../roles/resolution/engine/records/profile.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { FieldType } from '../../../roles/resolution/lens/field.ts'
import { draftLens } from '../../../roles/resolution/lens/proposal.ts'
import { createTextReader, type TextKind } from '../../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { detectDataKind, readDataFile, withDataFile } from '../data-file.ts'
import { listShippedLenses, readLens } from './lens-file.ts'

/** What is looked at, whatever the size of the file. */
export const sample_bytes = 16_777_216

export type LensProposal = {
  readonly records: number
  /** Whether that is all there are; else they are the first ones. */
  readonly isWhole: boolean
  readonly id_field: string | undefined
  readonly columns: readonly ColumnProfile[]
  readonly yaml: string
}

/** Throws `OfflineCommandError` (1): the file cannot be read or is broken. */
export async function proposeLens(file: string): Promise<LensProposal> {
  const kind = detectDataKind(file)
  const { isWhole, ...source } =
    kind === 'parquet' ? { isWhole: true, ...(await readDataFile(file, () => true)) } : await readSample(file, kind)
  if (source.rows === 0) throw new OfflineCommandError(1, `${file} contains no records`)
  const shipped = listShippedLenses().flatMap((name) => readLens(name).fields)
  const places = shipped.flatMap(({ name, type, columns }) =>
    (columns ?? [name]).map((column) => [column, { name, type }] as const),
  )
  // The same word may mean a field of several lenses: the first one counts.
  const known = new Map(places.toReversed())
  const types = new Map<string, FieldType>([...known].map(([column, { type }]) => [column, type]))
  const names = new Map([...known].map(([column, { name }]) => [column, name]))
  const columns = profileColumns(source, types)
  const id_field = findIdColumn(columns)
  const isWorthIt = columns.length > 1 && columns.some(({ column, type }) => column !== id_field && type !== undefined)
  if (!isWorthIt) throw noUsableColumnError(file, columns)
  const yaml = draftLens(deriveLensName(file), basename(file), columns, names)
  return { records: source.rows, isWhole, id_field, columns, yaml }
}

function noUsableColumnError(file: string, columns: readonly ColumnProfile[]): OfflineCommandError {
  const [only] = columns
  const other = columns.length === 1 ? [';', '\t', '|'].find((mark) => only?.column.includes(mark)) : undefined
  const way = other === '\t' ? 'name it .tsv' : 'separate values by commas'
  const remedy = other && `its only column is ${JSON.stringify(only?.column)}: ${way}`
  return new OfflineCommandError(1, `${file} has no column besides the id with different values`, remedy)
}

function deriveLensName(file: string): string {
  const plain = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return plain === '' ? 'my-lens' : plain.slice(0, 64)
}

const max_tries = 64

/** The records that are whole within the first bytes. */
async function readSample(file: string, kind: TextKind): Promise<RecordSource & { readonly isWhole: boolean }> {
  return await withDataFile(file, (opened) => {
    const bytes = new Uint8Array(Math.min(opened.size, sample_bytes))
    let length = 0
    opened.forEachTextChunk((piece, done) => {
      bytes.set(piece, length)
      length = done
    }, sample_bytes)
    const isWhole = opened.size <= sample_bytes
    return { name: basename(file), isWhole, ...parseSample(kind, bytes.subarray(0, length), isWhole) }
  })
}

/** The last line may be cut, or stand within quotation marks: then one of those before it ends a record. */
function parseSample(kind: TextKind, bytes: Uint8Array, isWhole: boolean): Omit<RecordSource, 'name'> {
  let end = isWhole ? 0 : bytes.lastIndexOf(10)
  for (let tried = 0; tried < max_tries && end > 0; tried++) {
    try {
      return parseRecords(kind, bytes.subarray(0, end + 1))
    } catch (error) {
      if (!(error instanceof DataFault)) throw error
      end = bytes.lastIndexOf(10, end - 1)
    }
  }
  return parseRecords(kind, bytes)
}

function parseRecords(kind: TextKind, bytes: Uint8Array): Omit<RecordSource, 'name'> {
  const reader = createTextReader(kind, () => true)
  reader.push(bytes)
  return reader.finish()
}

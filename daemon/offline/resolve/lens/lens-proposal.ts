// Profiles the beginning of a data file and proposes a lens for it.
import { basename, extname } from 'node:path'
import { DataFault } from '../../../roles/resolution/engine/records/csv.ts'
import { type ColumnProfile, findIdColumn, profileColumns } from '../../../roles/resolution/engine/records/profile.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { FieldType } from '../../../roles/resolution/lens/field.ts'
import { draftLens } from '../../../roles/resolution/lens/proposal.ts'
import { createTextReader, type TextKind } from '../../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { detectDataKind, readDataFile, withDataFile } from '../data-file.ts'
import { listShippedLenses, readLens } from './lens-file.ts'

/** Maximum size of the sample. */
const sample_bytes = 16_777_216

export type LensProposal = {
  readonly records: number
  /** Whether the sample has all records of the file. */
  readonly isWhole: boolean
  readonly id_field: string | undefined
  readonly columns: readonly ColumnProfile[]
  readonly yaml: string
}

/** Proposes a lens. Throws `OfflineCommandError` (1) if the file cannot be read or is invalid. */
export async function proposeLens(file: string): Promise<LensProposal> {
  const kind = detectDataKind(file)
  const { isWhole, ...source } =
    kind === 'parquet' ? { isWhole: true, ...(await readDataFile(file, () => true)) } : await readSample(file, kind)
  if (source.rows === 0) throw new OfflineCommandError(1, `${file} contains no records`)
  const shipped = listShippedLenses().flatMap((name) => readLens(name).fields)
  const shippedColumns = shipped.flatMap(({ name, type, columns }) =>
    (columns ?? [name]).map((column) => [column, { name, type }] as const),
  )
  // A column may belong to fields of several lenses; the first lens counts.
  const fieldOf = new Map(shippedColumns.toReversed())
  const types = new Map<string, FieldType>([...fieldOf].map(([column, { type }]) => [column, type]))
  const names = new Map([...fieldOf].map(([column, { name }]) => [column, name]))
  const columns = profileColumns(source, types)
  const id_field = findIdColumn(columns)
  const isUsable = columns.length > 1 && columns.some(({ column, type }) => column !== id_field && type !== undefined)
  if (!isUsable) throw noUsableColumnError(file, columns)
  const yaml = draftLens(deriveLensName(file), basename(file), columns, names)
  return { records: source.rows, isWhole, id_field, columns, yaml }
}

function noUsableColumnError(file: string, columns: readonly ColumnProfile[]): OfflineCommandError {
  const [onlyColumn] = columns
  const separator =
    columns.length === 1 ? [';', '\t', '|'].find((mark) => onlyColumn?.column.includes(mark)) : undefined
  const advice = separator === '\t' ? 'name it .tsv' : 'separate values by commas'
  const remedy = separator && `its only column is ${JSON.stringify(onlyColumn?.column)}: ${advice}`
  return new OfflineCommandError(1, `${file} has no column besides the id with different values`, remedy)
}

function deriveLensName(file: string): string {
  const slug = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return slug === '' ? 'my-lens' : slug.slice(0, 64)
}

const max_tries = 64

/** The complete records within the sample. */
async function readSample(file: string, kind: TextKind): Promise<RecordSource & { readonly isWhole: boolean }> {
  return await withDataFile(file, (openFile) => {
    const bytes = new Uint8Array(Math.min(openFile.size, sample_bytes))
    let length = 0
    openFile.forEachTextChunk((chunk, length_read) => {
      bytes.set(chunk, length)
      length = length_read
    }, sample_bytes)
    const isWhole = openFile.size <= sample_bytes
    return { name: basename(file), isWhole, ...parseSample(kind, bytes.subarray(0, length), isWhole) }
  })
}

/** Parses the sample. Its last line may be cut or inside quotation marks; then an earlier line ends the last record. */
function parseSample(kind: TextKind, bytes: Uint8Array, isWhole: boolean): Omit<RecordSource, 'name'> {
  let end = isWhole ? 0 : bytes.lastIndexOf(10)
  for (let attempt = 0; attempt < max_tries && end > 0; attempt++) {
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

// Looks at the beginning of a file of data and proposes a lens for it.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { DataFault } from '../../roles/resolution/engine/records/csv.ts'
import { type ColumnProfile, idAmong, profileOf } from '../../roles/resolution/engine/records/profile.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import type { FieldType } from '../../roles/resolution/lens/field.ts'
import { proposalFor } from '../../roles/resolution/lens/proposal.ts'
import { asInvoker } from '../acting.ts'
import { dataKindOf, readDataFile, type TextKind, textReader } from './data-file.ts'
import { lensNames, readLens } from './lens-file.ts'
import { Objection } from './objection.ts'

/** What is looked at, whatever the size of the file. */
export const sample_bytes = 16_777_216

export type Proposal = {
  readonly records: number
  /** Whether that is all there are; else they are the first ones. */
  readonly isWhole: boolean
  readonly id_field: string | undefined
  readonly columns: readonly ColumnProfile[]
  readonly yaml: string
}

/** Throws `Objection` (1): the file cannot be read or is broken. */
export async function proposeLens(file: string): Promise<Proposal> {
  const kind = dataKindOf(file)
  const { isWhole, ...source } =
    kind === 'parquet' ? { isWhole: true, ...(await readDataFile(file, () => true)) } : sampleOf(file, kind)
  if (source.rows === 0) throw new Objection(1, `${file} has no record to look at`)
  const shipped = lensNames().flatMap((name) => readLens(name).fields)
  const places = shipped.flatMap(({ name, type, columns }) =>
    (columns ?? [name]).map((column) => [column, { name, type }] as const),
  )
  // The same word may mean a field of several lenses: the first one counts.
  const known = new Map(places.toReversed())
  const types = new Map<string, FieldType>([...known].map(([column, { type }]) => [column, type]))
  const names = new Map([...known].map(([column, { name }]) => [column, name]))
  const columns = profileOf(source, types)
  const yaml = proposalFor(lensNameFor(file), basename(file), columns, names)
  return { records: source.rows, isWhole, id_field: idAmong(columns), columns, yaml }
}

function lensNameFor(file: string): string {
  const plain = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return plain === '' ? 'my-lens' : plain.slice(0, 64)
}

const most_tries = 64

/** The records that are whole within the first bytes. */
function sampleOf(file: string, kind: TextKind): Source & { readonly isWhole: boolean } {
  const { bytes, isWhole } = beginningOf(file)
  const name = basename(file)
  if (isWhole) return { name, isWhole, ...readText(file, kind, bytes) }
  // The last line may be cut, or stand within quotation marks: then one of those before it ends a record.
  let end = bytes.length
  for (let tried = 0; tried < most_tries; tried++) {
    end = bytes.lastIndexOf(10, end - 1)
    if (end <= 0) break
    try {
      return { name, isWhole, ...readText(file, kind, bytes.subarray(0, end + 1)) }
    } catch (error) {
      if (!(error instanceof Objection)) throw error
    }
  }
  return { name, isWhole, ...readText(file, kind, bytes) }
}

function readText(file: string, kind: TextKind, bytes: Uint8Array): Omit<Source, 'name'> {
  const reader = textReader(kind, () => true)
  try {
    reader.push(bytes)
    return reader.finish()
  } catch (error) {
    if (error instanceof DataFault) throw new Objection(1, `${file}, ${error.message}`)
    throw error
  }
}

function beginningOf(file: string): { bytes: Uint8Array; isWhole: boolean } {
  try {
    return asInvoker(() => {
      const opened = openSync(file, 'r')
      try {
        const size = fstatSync(opened).size
        const bytes = new Uint8Array(Math.min(size, sample_bytes))
        let length = 0
        for (let read = -1; read !== 0 && length < bytes.length; length += read) {
          read = readSync(opened, bytes, length, bytes.length - length, length)
        }
        return { bytes: bytes.subarray(0, length), isWhole: size <= sample_bytes }
      } finally {
        closeSync(opened)
      }
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Objection(1, `${file} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : code}`)
  }
}

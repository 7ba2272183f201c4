// Profiles the beginning of a data file and proposes a lens for it.
import { basename, extname } from 'node:path'
import type { DataFormat } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { DataBlocks } from '../../../kernel/data/data-block.ts'
import { collectColumns } from '../../../roles/resolution/engine/records/collect-columns.ts'
import { type ColumnProfile, findIdColumn, profileColumns } from '../../../roles/resolution/engine/records/profile.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { FieldType } from '../../../roles/resolution/lens/field.ts'
import { draftLens } from '../../../roles/resolution/lens/proposal.ts'
import { openRecordBlocks } from '../../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { detectDataKind, withDataFile } from '../data-file.ts'
import { type RecordReading, refuseOtherSeparator } from '../lens-records.ts'
import { listShippedLenses, readLens } from './lens-file.ts'

/** The sample ends with the block that reaches this size. */
const sample_bytes = 16_777_216
/** Values of all columns of the sample, missing ones too: a column that appears late has one for each row. */
const max_sample_values = 33_554_432

export type LensProposal = {
  readonly records: number
  /** Whether the sample has all records of the file. */
  readonly isWhole: boolean
  readonly id_field: string | undefined
  readonly columns: readonly ColumnProfile[]
  readonly yaml: string
}

/** Proposes a lens. Throws `OfflineCommandError` (1) if the file cannot be read or is invalid. */
export async function proposeLens(
  file: string,
  { kind = detectDataKind(file), delimiter }: Omit<RecordReading, 'makesIds'> = {},
): Promise<LensProposal> {
  const { isWhole, ...source } = await readSample(file, { kind, delimiter })
  refuseOtherSeparator(file, source.names)
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
  if (!isUsable) throw new OfflineCommandError(1, `${file} has no column besides the id with different values`)
  const yaml = draftLens(deriveLensName(file), basename(file), columns, names)
  return { records: source.rows, isWhole, id_field, columns, yaml }
}

function deriveLensName(file: string): string {
  const slug = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return slug === '' ? 'my-lens' : slug.slice(0, 64)
}

/** The records of the first blocks. */
async function readSample(file: string, format: DataFormat): Promise<RecordSource & { readonly isWhole: boolean }> {
  return await withDataFile(file, async (openFile) => {
    let read_bytes = 0
    const onProgress = (done: number) => {
      read_bytes = done
    }
    const blocks = await openRecordBlocks(openFile, { ...format, isWanted: () => true, onProgress })
    let isWhole = true
    async function* takeSample(): DataBlocks {
      let rows = 0
      let isFirst = true
      for await (const block of blocks) {
        rows += block.rows
        isWhole = isFirst || (read_bytes < sample_bytes && rows * block.columns.length <= max_sample_values)
        if (!isWhole) return
        isFirst = false
        yield block
      }
    }
    const columns = await collectColumns(takeSample())
    return { name: basename(file), isWhole, ...columns }
  })
}

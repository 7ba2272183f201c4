// Values of records as they are in the data, before any normal form.
import type { RawColumn } from '../../../roles/resolution/engine/records/collect-columns.ts'
import type { LensRecords, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { decodeText } from '../../../roles/resolution/engine/text/dictionary.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'

/** Reads a value of a row by the number of its field; undefined where it is missing. */
export type ValueReader = (row: number, field: number) => string | undefined

/** Creates a reader of original values; those of a joined field are separated by commas. */
export function createOriginalReader(lens: Lens, records: LensRecords, sources: readonly RecordSource[]): ValueReader {
  const offsets = computeOffsets(sources)
  const columns = sources.map((source) => records.fields.map(({ name }) => findColumns(source, lens, name)))
  const decoder = new TextDecoder()
  return (row, field) => {
    const source = records.sources[row] ?? 0
    const values = (columns[source]?.[field] ?? []).flatMap(({ codes, values: texts }) => {
      const code = codes[row - (offsets[source] ?? 0)] ?? -1
      return code < 0 ? [] : [decoder.decode(texts.bytesOf(code))]
    })
    return values.length === 0 ? undefined : values.join(', ')
  }
}

/** Creates a reader of the values that are compared. */
export function createNormalReader({ fields }: LensRecords): ValueReader {
  return (row, field) => {
    const column = fields[field]?.column
    const code = column?.codes[row] ?? -1
    return column && code >= 0 ? decodeText(column.dictionary, code) : undefined
  }
}

function computeOffsets(sources: readonly RecordSource[]): number[] {
  let rows = 0
  return sources.map((source) => {
    rows += source.rows
    return rows - source.rows
  })
}

/** The columns that a field reads: all of a joined one, otherwise the first that the source has. */
function findColumns({ columns }: RecordSource, { fields }: Lens, name: string): RawColumn[] {
  const field = fields.find((candidate) => candidate.name === name)
  const names = field?.join ?? field?.columns ?? [name]
  const found = names.flatMap((each) => columns.filter((column) => column.name === each))
  return field?.join ? found : found.slice(0, 1)
}

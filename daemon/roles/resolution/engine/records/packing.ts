// Records as arrays of numbers and one head, to be kept and had again: the columns of a source, each distinct value
// once.
import type { ColumnValues, RawColumn } from './csv.ts'
import type { RecordSource } from './records.ts'

export type PackedSourceHead = {
  readonly name: string
  readonly rows: number
  readonly names: readonly string[]
  readonly columns: readonly string[]
}

/** Of each column: the codes of its rows, where its values begin, the bytes of the values. */
export type PackedColumn = readonly [codes: Int32Array, starts: Uint32Array, bytes: Uint8Array]

export function packSource({ name, rows, names, columns }: RecordSource): {
  readonly head: PackedSourceHead
  readonly arrays: PackedColumn[]
} {
  const head = { name, rows, names, columns: columns.map((column) => column.name) }
  const arrays = columns.map(({ codes, values }) => {
    const { starts, bytes } = values.all
    // Copies: what is read stays in use, and with what is left over of its space.
    return [codes, starts.slice(), bytes.slice()] as const
  })
  return { head, arrays }
}

export function unpackSource(
  { name, rows, names, columns }: PackedSourceHead,
  arrays: readonly PackedColumn[],
): RecordSource {
  return {
    name,
    rows,
    names,
    columns: arrays.map(([codes, starts, bytes], at): RawColumn => {
      return { name: columns[at]!, codes, values: unpackValues(starts, bytes) }
    }),
  }
}

function unpackValues(starts: Uint32Array, bytes: Uint8Array): ColumnValues {
  const bytesOf = (value: number) => bytes.subarray(starts[value]!, starts[value + 1]!)
  return { size: starts.length - 1, bytesOf, all: { bytes, starts } }
}

// Packs the columns of a source into number arrays and a head, each distinct value once, and unpacks them.
import type { ColumnValues, RawColumn } from './collect-columns.ts'
import type { RecordSource } from './records.ts'

export type PackedSourceHead = {
  readonly name: string
  readonly rows: number
  readonly names: readonly string[]
  readonly columns: readonly string[]
}

/** A packed column: the codes of its rows, the starts of its values, and the bytes of the values. */
export type PackedColumn = readonly [codes: Int32Array, starts: Uint32Array, bytes: Uint8Array]

export function packSource({ name, rows, names, columns }: RecordSource): {
  readonly head: PackedSourceHead
  readonly arrays: PackedColumn[]
} {
  const head = { name, rows, names, columns: columns.map((column) => column.name) }
  const arrays = columns.map(({ codes, values }) => {
    const { starts, bytes } = values.all
    // Copies, since the originals stay in use and have spare capacity.
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

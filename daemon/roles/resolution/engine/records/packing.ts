// Records as arrays of numbers and one head, to be kept and had again: the columns of a source, each distinct value once.
import type { RawColumn, Values } from './csv.ts'
import type { Source } from './records.ts'

export type Head = {
  readonly name: string
  readonly rows: number
  readonly names: readonly string[]
  readonly columns: readonly string[]
}

/** Of each column: the codes of its rows, where its values begin, the bytes of the values. */
export type Packed = readonly [codes: Int32Array, starts: Uint32Array, bytes: Uint8Array]

export function packed({ name, rows, names, columns }: Source): { readonly head: Head; readonly arrays: Packed[] } {
  const head = { name, rows, names, columns: columns.map((column) => column.name) }
  const arrays = columns.map(({ codes, values }) => {
    const { starts, bytes } = values.all
    // Copies: what is read stays in use, and with what is left over of its space.
    return [codes, starts.slice(), bytes.slice()] as const
  })
  return { head, arrays }
}

export function unpacked({ name, rows, names, columns }: Head, arrays: readonly Packed[]): Source {
  return {
    name,
    rows,
    names,
    columns: arrays.map(([codes, starts, bytes], at): RawColumn => {
      return { name: columns[at]!, codes, values: unpackedValues(starts, bytes) }
    }),
  }
}

function unpackedValues(starts: Uint32Array, bytes: Uint8Array): Values {
  const bytesOf = (value: number) => bytes.subarray(starts[value]!, starts[value + 1]!)
  return { size: starts.length - 1, bytesOf, all: { bytes, starts } }
}

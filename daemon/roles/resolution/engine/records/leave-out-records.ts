// Leaves records out of a source before anything else reads it: no column keeps a value that only they have.
import type { RawColumn } from './collect-columns.ts'
import type { RecordSource } from './records.ts'
import { ValueTable } from './value-table.ts'

export type ReducedSource = {
  readonly source: RecordSource
  /** Ids of the records that were left out. */
  readonly left_out: readonly string[]
}

/** Returns the same source where no record has one of the ids. */
export function leaveOutRecords(source: RecordSource, id_field: string, ids: ReadonlySet<string>): ReducedSource {
  const column = source.columns.find(({ name }) => name === id_field)
  if (!column || ids.size === 0) return { source, left_out: [] }
  const decoder = new TextDecoder()
  const left_out = new Map<number, string>()
  for (let code = 0; code < column.values.size; code++) {
    const id = decoder.decode(column.values.bytesOf(code))
    if (ids.has(id)) left_out.set(code, id)
  }
  if (left_out.size === 0) return { source, left_out: [] }
  const rows: number[] = []
  for (let row = 0; row < source.rows; row++) if (!left_out.has(column.codes[row]!)) rows.push(row)
  return { source: keepRecords(source, rows), left_out: [...left_out.values()] }
}

/** The records at these rows alone. */
export function keepRecords<T extends Omit<RecordSource, 'name'>>(source: T, rows: readonly number[]): T {
  return { ...source, rows: rows.length, columns: source.columns.map((each) => selectRows(each, rows)) }
}

function selectRows({ name, values, codes }: RawColumn, rows: readonly number[]): RawColumn {
  const selected = new ValueTable()
  const numbers = new Int32Array(values.size).fill(-1)
  const selectedCodes = Int32Array.from(rows, (row) => {
    const code = codes[row]!
    if (code < 0) return -1
    if (numbers[code]! < 0) {
      const bytes = values.bytesOf(code)
      numbers[code] = selected.add(bytes, 0, bytes.length)
    }
    return numbers[code]!
  })
  selected.close()
  return { name, values: selected, codes: selectedCodes }
}

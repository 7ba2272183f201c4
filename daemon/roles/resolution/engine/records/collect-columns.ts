// Collects the blocks of a data file into columns of numbered values.
import { type DataBlocks, doubleLength, type TextColumn } from '../../../../kernel/data/data-block.ts'
import type { RecordSource } from './records.ts'
import { ValueTable } from './value-table.ts'

/** The distinct values of a column, by number. */
export type ColumnValues = Pick<ValueTable, 'size' | 'bytesOf' | 'all'>

/** A column of a source: its distinct values, and the number of each row's value; -1 for a missing or an empty one. */
export type RawColumn = { readonly name: string; readonly values: ColumnValues; readonly codes: Int32Array }

/** Numbers the values of each column, a block at a time, so that the processor's cache holds one value table at a time. */
export async function collectColumns(blocks: DataBlocks): Promise<Omit<RecordSource, 'name'>> {
  const columns = new Map<string, NumberedColumn>()
  let names: readonly string[] = []
  let rows = 0
  for await (const block of blocks) {
    for (const column of block.columns) {
      const numbered = columns.get(column.name) ?? new NumberedColumn()
      columns.set(column.name, numbered)
      numbered.add(column, rows, block.rows)
    }
    names = block.names
    rows += block.rows
  }
  return { names, rows, columns: [...columns].map(([name, column]) => ({ name, ...column.finish(rows) })) }
}

/** Builds a column from the text of each row; an empty one is missing. */
export function buildTextColumn(name: string, texts: readonly string[]): RawColumn {
  const values = new ValueTable()
  const codes = Int32Array.from(texts, (text) => (text === '' ? -1 : values.addText(text)))
  return { name, values, codes }
}

class NumberedColumn {
  readonly #values = new ValueTable()
  #codes = new Int32Array(1 << 10).fill(-1)

  /** `first`: the row of the first value; earlier rows without a value have none. */
  add({ bytes, starts, ends }: TextColumn, first: number, rows: number): void {
    this.#reserve(first + rows)
    const [values, codes] = [this.#values, this.#codes]
    for (let at = 0; at < rows; at++) {
      const from = starts[at]!
      const to = ends[at]!
      codes[first + at] = from === to ? -1 : values.add(bytes, from, to)
    }
  }

  #reserve(rows: number): void {
    while (rows > this.#codes.length) this.#codes = doubleLength(this.#codes).fill(-1, this.#codes.length)
  }

  /** Frees the memory that only `add` needs. */
  finish(rows: number): Omit<RawColumn, 'name'> {
    this.#reserve(rows)
    this.#values.close()
    return { values: this.#values, codes: this.#codes.subarray(0, rows) }
  }
}

// Rows of numbers and texts under columns of known types.
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { type RecordColumn, RecordTable } from '../record-table/record-table.ts'

export class FactTable<Columns extends Readonly<Record<string, ValueType>>> extends RecordTable<RecordColumn> {
  constructor(columns: Columns, options: DataReadOptions) {
    super(
      Object.entries(columns).map(([name, stated]) => ({ name, stated })),
      options,
    )
  }

  /** Adds the next record; values that are absent are missing. Throws `DataFault`. */
  add(facts: { readonly [column in keyof Columns]?: string | number | undefined }): void {
    const values = this.columns.map(({ name, isSelected }) => {
      const value = isSelected ? facts[name] : undefined
      return value === undefined ? undefined : String(value)
    })
    const long = this.columns.findIndex(({ max_bytes }, at) => this.findLength(values[at], max_bytes) !== undefined)
    if (long < 0) this.keep(values)
    else this.reject(`${JSON.stringify(this.columns[long]?.name)} is too long`)
  }

  /** The next record is a bad one. Throws `DataFault` where the reading takes none. */
  refuse(reason: string): void {
    this.reject(reason)
  }
}

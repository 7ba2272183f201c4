// Features as columns of text: their attributes, and their geometry in the last column.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type RecordColumn, RecordTable, type RecordValue } from '../record-table/record-table.ts'

export class FeatureTable extends RecordTable<RecordColumn> {
  /**
   * Adds the next record. `read` returns the value of the column with this number; it is called for selected columns, and throws
   * `DataFault` for a value that cannot be read, which makes the record a bad one, or is missing where its column is optional.
   * Throws `DataFault` for a fault of the file.
   */
  add(read: (column: number) => RecordValue): void {
    const values = this.#readValues(read)
    if (typeof values === 'string') this.reject(values)
    else this.keep(values)
  }

  #readValues(read: (column: number) => RecordValue): RecordValue[] | string {
    const values: RecordValue[] = []
    for (const [at, { name, isSelected, isOptional, max_bytes }] of this.columns.entries()) {
      try {
        const value = isSelected ? read(at) : undefined
        const tooLong = this.findLength(value, max_bytes)
        if (tooLong !== undefined) throw new DataFault(tooLong)
        values.push(value)
      } catch (error) {
        if (!(error instanceof DataFault)) throw error
        if (!isOptional) return `${JSON.stringify(name)} has ${error.reason}`
        values.push(undefined)
      }
    }
    return values
  }
}

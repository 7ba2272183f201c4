// Reads an Avro file by blocks: one block of the file is in memory.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import { RecordTable, type RecordValue } from '../record-table/record-table.ts'
import { AvroCursor } from './avro-cursor.ts'
import { openAvroFile } from './avro-file.ts'
import { parseAvroSchema } from './avro-schema.ts'
import { type AvroColumn, columnsOf, ReadingState } from './avro-values.ts'

/**
 * `separator`: joins the items of a list. The line of a record is its number. `onRead` receives the bytes that were read so far.
 * Throws `DataFault`, and what the file or `onReject` throws.
 */
export async function* readAvro(
  file: RangeSource,
  separator: string,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const { schema, blocks } = openAvroFile(file)
  const isOptional = (name: string) => options.isOptional?.(name) === true
  const table = new AvroTable(columnsOf(parseAvroSchema(schema), separator, isOptional), options)
  let hasBlock = false
  for (const { count, bytes } of blocks(onRead)) {
    // Records without a byte would be without end.
    if (count > bytes.length) throw new DataFault(`a block claims ${count} records in ${bytes.length} bytes`)
    const cursor = new AvroCursor(bytes)
    const state = new ReadingState(bytes.length)
    for (let left = count; left > 0; left--) {
      table.add(cursor, state)
      if (!table.isFull) continue
      hasBlock = true
      yield table.block()
      table.clear()
    }
    if (!cursor.isAtEnd) throw new DataFault('damaged: a block has more bytes than its records')
  }
  if (table.rows > 0 || !hasBlock) yield table.block()
}

class AvroTable extends RecordTable<AvroColumn> {
  readonly #values: RecordValue[] = []

  /** Reads the record at the cursor. */
  add(cursor: AvroCursor, state: ReadingState): void {
    const fault = this.#readValues(cursor, state)
    if (fault === undefined) this.keep(this.#values)
    else this.reject(fault)
  }

  /** Returns what is wrong with the record, once all of it is read. */
  #readValues(cursor: AvroCursor, state: ReadingState): string | undefined {
    let fault: string | undefined
    for (const [at, column] of this.columns.entries()) {
      state.count()
      const value = column.read(cursor, state, 0)
      this.#values[at] = value
      const damage = state.damage ?? this.findLength(value, max_record_bytes)
      const reason =
        damage ?? (column.isSelected ? (state.fault ?? this.findLength(value, column.max_bytes)) : undefined)
      if (reason !== undefined) fault ??= `${JSON.stringify(column.name)} has ${reason}`
      state.fault = undefined
      state.damage = undefined
    }
    return fault
  }
}

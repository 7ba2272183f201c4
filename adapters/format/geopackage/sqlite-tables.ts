// The tables of a file of SQLite by name, and their rows. Views, triggers and virtual tables are not run, and cannot be read.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import { parseCreateTable, type SqliteColumn } from './create-table.ts'
import { SqlitePages } from './sqlite-pages.ts'
import { SqliteRecord, type SqliteValue, type TextDecoding } from './sqlite-record.ts'

/** The value of the column with this number. */
type RowValues = (column: number) => SqliteValue

export type PagedTable = {
  /** Without generated ones. */
  readonly columns: readonly SqliteColumn[]
  /**
   * The rows; undefined for one that is too long. Values are valid until the next row. `onPage`
   * is called before each page. Throws `DataFault`.
   */
  rows(onPage: () => void): Iterable<RowValues | undefined>
}

type TableEntry = { readonly type: string; readonly root: number; readonly statement: string }

/** The table of the schema begins in the first page, and has these columns. */
const schema_root = 1
const [type_column, name_column, root_column, sql_column] = [0, 1, 3, 4]
const max_entries = 100_000

export class SqliteTables {
  readonly #pages: SqlitePages
  readonly #decode: TextDecoding
  readonly #entries = new Map<string, TableEntry>()

  /** Throws `DataFault`, and what the file throws. */
  constructor(file: RangeSource) {
    this.#pages = new SqlitePages(file)
    const decoder = new TextDecoder(this.#pages.encoding, { fatal: true, ignoreBOM: true })
    this.#decode = (bytes) => decoder.decode(bytes)
    let schema_bytes = 0
    for (const { record } of this.#pages.rows(schema_root, () => undefined)) {
      schema_bytes += record?.length ?? 0
      if (!record || this.#entries.size === max_entries || schema_bytes > max_record_bytes)
        throw new DataFault('damaged: its schema is too large')
      const values = new SqliteRecord(record, this.#decode)
      const type = values.value(type_column)
      if (type !== 'table' && type !== 'view') continue
      const entry = { type, root: Number(values.value(root_column)), statement: String(values.value(sql_column)) }
      this.#entries.set(String(values.value(name_column)).toLowerCase(), entry)
    }
  }

  get hasWriteAheadLog(): boolean {
    return this.#pages.hasWriteAheadLog
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase())
  }

  /** Throws `DataFault` for one that is not an ordinary table. */
  table(name: string): PagedTable {
    const entry = this.#entries.get(name.toLowerCase())
    if (!entry) throw new DataFault(`damaged: the table ${JSON.stringify(name)} is missing`)
    // A virtual table has no page of its own.
    if (entry.type === 'view' || !(entry.root > 0))
      throw new DataFault(
        `${JSON.stringify(name)} is a view or a virtual table, which is not read: its rows are made by the file`,
      )
    const all = parseCreateTable(entry.statement)
    const columns = all.filter(({ isGenerated }) => !isGenerated)
    const placeOf = new Map(all.filter(({ isStored }) => isStored).map((column, place) => [column, place]))
    const places = columns.map((column) => placeOf.get(column) ?? -1)
    return { columns, rows: (onPage) => this.#rows(entry.root, { columns, places }, onPage) }
  }

  *#rows(
    root: number,
    { columns, places }: { readonly columns: readonly SqliteColumn[]; readonly places: readonly number[] },
    onPage: () => void,
  ): Generator<RowValues | undefined, void, undefined> {
    for (const { rowid, record } of this.#pages.rows(root, onPage)) {
      if (!record) {
        yield undefined
        continue
      }
      const values = new SqliteRecord(record, this.#decode)
      yield (at) => {
        const [column, place = 0] = [columns[at], places[at]]
        if (column?.isRowId) return rowid
        if (place < values.length) return values.value(place)
        if (column?.usual === null) throw new DataFault('no value, and an expression as its default')
        return column?.usual
      }
    }
  }
}

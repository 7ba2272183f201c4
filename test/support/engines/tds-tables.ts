// Tables of a scripted server of SQL Server: answers the statements of this project alone, by rows that are there.
import {
  beginTransactionToken,
  doneToken,
  errorToken,
  resultTokens,
  type TdsColumn,
  type TdsType,
  type TdsValue,
} from './tds-tokens.ts'

/** `wire`: as which the values of the column are sent. `max_length`: of the catalog. */
export type TableColumn = {
  readonly name: string
  readonly type_name: string
  readonly max_length?: number
  readonly wire: TdsType
}
/** Values as the server converts them. */
export type ScriptedTable = { readonly columns: readonly TableColumn[]; readonly rows: TdsValue[][] }

export class TdsTables {
  readonly tables = new Map<string, ScriptedTable>()
  /** Statements of readings, in their order. */
  readonly statements: string[] = []
  snapshot_state = 1

  answer(sql: string): Buffer | Iterable<Buffer> {
    this.statements.push(sql)
    if (sql.startsWith('SET TRANSACTION')) return Buffer.concat([beginTransactionToken(), doneToken()])
    if (sql.startsWith('SET ') || sql.startsWith('COMMIT')) return doneToken()
    if (sql.includes('ProductVersion')) return resultTokens([['', 'text']], [['16.0.4195.2']])
    if (sql.includes('snapshot_isolation_state')) return resultTokens([['', 'int']], [[this.snapshot_state]])
    if (sql.includes('sys.columns')) return this.#describeTable(sql)
    if (sql.includes('sys.objects'))
      return resultTokens(
        [['name', 'text']],
        [...this.tables.keys()].map((name) => [name]),
      )
    const [, schema, name = ''] = /FROM \[(\w+)\]\.\[((?:[^\]]|\]\])*)\]/.exec(sql) ?? []
    const table = this.tables.get(name.replaceAll(']]', ']'))
    if (!table || schema !== 'dbo') return Buffer.concat([errorToken(208), doneToken(2)])
    if (sql.includes('IS NULL')) return this.#findMissing(sql, table)
    return sql.includes('MAX(') ? this.#findGreatest(sql, table) : this.#select(sql, table)
  }

  #describeTable(sql: string): Buffer {
    const [, name = ''] = /o\.name = N'((?:[^']|'')*)'/.exec(sql) ?? []
    const table = this.tables.get(name.replaceAll("''", "'"))
    const rows = table?.columns.map((each) => [each.name, each.type_name, each.max_length ?? 8]) ?? []
    return resultTokens(
      [
        ['name', 'text'],
        ['', 'text'],
        ['', 'int'],
      ],
      rows,
    )
  }

  #findMissing(sql: string, table: ScriptedTable): Buffer {
    const at = findColumn(/WHERE (.*) IS NULL/.exec(sql)?.[1], table)
    return resultTokens([['', 'int']], [[table.rows.some((row) => (row[at] ?? null) === null) ? 1 : 0]])
  }

  #findGreatest(sql: string, table: ScriptedTable): Buffer {
    const at = findColumn(/MAX\((.*)/.exec(sql)?.[1], table)
    const rows = filterRows(sql, table, at).toSorted((a, b) => compare(a[at], b[at]))
    const greatest = rows.at(-1)?.[at]
    return resultTokens([['', 'text']], [[greatest === undefined ? null : String(greatest)]])
  }

  *#select(sql: string, table: ScriptedTable): Generator<Buffer> {
    const list = sql.slice('SELECT '.length, sql.lastIndexOf(' FROM [dbo]'))
    const items = splitItems(list)
    const chosen = items.slice(0, -2).map((item) => findColumn(item, table))
    const columns: TdsColumn[] = chosen.map((at) => [table.columns[at]?.name ?? '', table.columns[at]?.wire ?? 'wrong'])
    columns.push(['', 'int'], ['', 'int'])
    const place = items.at(-1) ?? ''
    const order = place === '0' ? undefined : findColumn(place, table)
    const [end, start] = findLiterals(place.replaceAll('<=', '')).toReversed()
    const rows = filterRows(sql, table, order)
    for (const row of rows) {
      const values = chosen.map((at) => row[at] ?? null)
      const isLarge = chosen.some(
        (at) => table.columns[at]?.max_length === -1 && String(row[at] ?? '').length > 1_048_576,
      )
      const value = order === undefined ? null : row[order]
      const position = value === null || value === undefined ? 0 : placeOf(value, start, end)
      const shown = isLarge ? values.map(() => null) : values
      // Metadata once, and the end after the last one.
      const bytes = resultTokens(columns, [[...shown, isLarge ? 1 : 0, position]])
      const head = resultTokens(columns, []).length - doneToken().length
      yield row === rows[0] ? bytes.subarray(0, -doneToken().length) : bytes.subarray(head, -doneToken().length)
    }
    yield rows.length === 0 ? resultTokens(columns, []) : doneToken()
  }
}

const placeOf = (value: TdsValue, start: string | undefined, end: string | undefined) =>
  start !== undefined && compare(value, start) === 0 ? 1 : end !== undefined && compare(value, end) === 0 ? 2 : 0

/** The first name in brackets. */
function findColumn(item: string | undefined, { columns }: ScriptedTable): number {
  const [, name = ''] = /\[((?:[^\]]|\]\])*)\]/.exec(item ?? '') ?? []
  const at = columns.findIndex((each) => each.name === name.replaceAll(']]', ']'))
  if (at < 0) throw new Error(`the scripted table has no column of ${item}`)
  return at
}

/** At commas outside of parentheses and names. */
function splitItems(list: string): string[] {
  const items = ['']
  let depth = 0
  for (const [part] of list.matchAll(/\[(?:[^\]]|\]\])*\]|[(),]|[^[(),]+/g)) {
    if (part === '(') depth++
    if (part === ')') depth--
    if (part === ',' && depth === 0) items.push('')
    else items.push((items.pop() ?? '') + part)
  }
  return items.map((item) => item.trim())
}

/** Values with which something is compared. */
function findLiterals(text: string): string[] {
  const pattern = /(?:>=|<=|=) (?:CONVERT\([\w()]+, )?(?:N'((?:[^']|'')*)'|(-?[\d.]+))/g
  return [...text.matchAll(pattern)].map(([, quoted, number]) => quoted?.replaceAll("''", "'") ?? number ?? '')
}

function filterRows(sql: string, { rows }: ScriptedTable, at: number | undefined): TdsValue[][] {
  const [, where = ''] = / WHERE (.*)$/s.exec(sql) ?? []
  if (where === '' || at === undefined) return rows
  const [upTo] = where.includes('<=') ? findLiterals(where) : []
  const from = where.includes('>=') ? findLiterals(where).at(-1) : undefined
  return rows.filter(
    (row) => (upTo === undefined || compare(row[at], upTo) <= 0) && (from === undefined || compare(row[at], from) >= 0),
  )
}

/** Numbers by their size, all else by code units. */
function compare(one: TdsValue | undefined, other: TdsValue | undefined): number {
  const [a, b] = [String(one), String(other)].map((text) => {
    const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d{1,10}))?$/.exec(text) ?? []
    return whole === undefined ? text : BigInt(whole + fraction.padEnd(10, '0'))
  })
  return (a ?? '') < (b ?? '') ? -1 : (a ?? '') > (b ?? '') ? 1 : 0
}

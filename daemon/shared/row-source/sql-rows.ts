// Rows of a statement of SQL as lines of JSON, in blocks of bounded size.
import { choosePageRows, refuseLargeRow } from './json-row.ts'
import type { RowCursor, RowPlace } from './row-cursor.ts'
import { max_row_characters, max_value_bytes, RowSourceError } from './row-source.ts'

/** `describe`: a value as JSON. */
export type SqlColumn<Value> = { readonly name: string; readonly describe: (value: Value) => string }

/** By the number that a statement has for each. */
const places: ReadonlyMap<string, RowPlace> = new Map([
  ['0', 'between'],
  ['1', 'start'],
  ['2', 'end'],
])

/**
 * Of rows that have two more values than columns: whether a value is too large, which is then not sent, and the place of the row.
 * `refuse`: rows of another kind, which a hostile server sends. Throws `RowSourceError`.
 */
export function rowDescriber<Value>(
  columns: readonly SqlColumn<Value>[],
  onRow: RowCursor['onRow'] | undefined,
  refuse: () => RowSourceError,
): (row: readonly Value[]) => string {
  const size = columns.length
  const parts = columns.map(({ name, describe }, at) => {
    return { start: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`, describe }
  })
  return (row) => {
    const flag = String(row[size])
    const place = places.get(String(row[size + 1]))
    if (row.length !== size + 2 || (flag !== '0' && flag !== '1') || place === undefined) throw refuse()
    if (flag === '1') throw new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes`)
    let line = ''
    let at = 0
    for (const { start, describe } of parts) line += start + describe(row[at++] as Value)
    line += '}'
    if (line.length > max_row_characters) throw refuseLargeRow()
    onRow?.(place)
    return line
  }
}

const block_rows = 256
const block_characters = 2_097_152

/** Of rows that come one by one. The last block may be empty. */
export async function* blocksOfRows<Row>(
  rows: AsyncIterable<Row>,
  describe: (row: Row) => string,
): AsyncGenerator<readonly string[]> {
  let block: string[] = []
  let characters = 0
  for await (const row of rows) {
    const line = describe(row)
    block.push(line)
    characters += line.length
    if (block.length < block_rows && characters < block_characters) continue
    yield block
    block = []
    characters = 0
  }
  yield block
}

/** Of rows that are requested page by page. `fetch`: fewer rows than requested are the last ones. */
export async function* blocksOfPages<Row>(
  fetch: (rows: number) => Promise<readonly Row[]>,
  describe: (row: Row) => string,
  refuse: () => RowSourceError,
): AsyncGenerator<readonly string[]> {
  let page_rows = choosePageRows(undefined)
  for (;;) {
    const page = await fetch(page_rows)
    if (page.length > page_rows) throw refuse()
    const block = page.map(describe)
    if (block.length > 0) yield block
    if (block.length < page_rows) return
    page_rows = choosePageRows({ rows: block.length, characters: block.reduce((sum, line) => sum + line.length, 0) })
  }
}

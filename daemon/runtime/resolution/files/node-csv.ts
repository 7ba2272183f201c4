// Formats records of a request as comma-separated values, so that a run reads all records the same way.
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { NodeRecord } from '../../../roles/resolution/fusion-run/node-data.ts'

/** Yields a header line with the columns of all records in the order of their names, then a line for each record. Null is empty. */
export function* formatNodeCsv(records: readonly NodeRecord[]): Generator<string> {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))].sort()
  yield `${columns.map(formatCell).join(',')}\n`
  for (const record of records) {
    const line = columns.map((column) => formatCell(String(record[column] ?? ''))).join(',')
    yield `${line || '""'}\n`
  }
}

/** Yields the same for the columns that were read of a source. */
export function* formatSourceCsv({ rows, columns }: Pick<RecordSource, 'rows' | 'columns'>): Generator<string> {
  const decoder = new TextDecoder()
  yield `${columns.map(({ name }) => formatCell(name)).join(',')}\n`
  for (let row = 0; row < rows; row++) {
    const cells = columns.map(({ values, codes }) => {
      const code = codes[row] ?? -1
      return code < 0 ? '' : formatCell(decoder.decode(values.bytesOf(code)))
    })
    yield `${cells.join(',') || '""'}\n`
  }
}

/** RFC 4180: quotes a value with a comma, a quotation mark or a line end. */
function formatCell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

// Records of a request as comma-separated values, so that all records of a run are read one way.
import type { NodeRecord } from '../../roles/resolution/fusion-run/node-data.ts'

/** A line for all columns that any record has, in the order of their names, then one for each record. Null is empty. */
export function* formatNodeCsv(records: readonly NodeRecord[]): Generator<string> {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))].sort()
  yield `${columns.map(formatCell).join(',')}\n`
  for (const record of records) {
    const line = columns.map((column) => formatCell(String(record[column] ?? ''))).join(',')
    yield `${line || '""'}\n`
  }
}

/** RFC 4180: in quotation marks where it holds a comma, a mark or a line end. */
function formatCell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

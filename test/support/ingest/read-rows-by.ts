// Rows that a connection gives, read as a task reads them.
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../../daemon/runtime/ingest/connection/open-source.ts'
import type { RowRequest } from '../../../daemon/shared/row-source/row-source.ts'

type RowSourceSettings = Parameters<typeof openRowSource>[1]

/** All rows of the table, `people` by default, as lines of JSON. */
export async function readRowsBy(
  connection: OpenConnection,
  settings: RowSourceSettings,
  request: Partial<RowRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  const source = await openRowSource(connection, settings, '')
  try {
    const lines: string[] = []
    for await (const block of source.rows({ table: 'people', ...request }, signal)) lines.push(...block)
    return lines
  } finally {
    await source.close()
  }
}

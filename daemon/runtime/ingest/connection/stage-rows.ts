// Writes the rows of a source to a file of JSON lines, from which they land as those of any data file.
import { closeSync, openSync, writeSync } from 'node:fs'
import { type RowRequest, type RowSource, RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { NewRows } from './new-rows.ts'

/** What one read of a source takes of the disk at most. */
const max_staged_bytes = 68_719_476_736

/** `to`: a new file. `news`: takes those that are new. Returns the rows. Throws `RowSourceError`. */
export async function stageRows(
  source: RowSource,
  request: Omit<RowRequest, 'cursor'>,
  to: string,
  news?: NewRows,
): Promise<number> {
  const file = openSync(to, 'wx', 0o600)
  // The thread ends with its task: there is no other signal in it.
  const { signal } = new AbortController()
  let [rows, total_bytes] = [0, 0]
  try {
    for await (const read of source.rows({ ...request, cursor: news?.cursor() }, signal)) {
      const block = news?.take(read) ?? read
      if (block.length === 0) continue
      const bytes = Buffer.from(`${block.join('\n')}\n`)
      total_bytes += bytes.length
      if (total_bytes > max_staged_bytes)
        throw new RowSourceError(`the source has more than ${max_staged_bytes} bytes of rows`)
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      rows += block.length
    }
  } finally {
    closeSync(file)
  }
  return rows
}

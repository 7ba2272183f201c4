// Reads the columns that the lens does not read once before the work, since a fault of theirs would end it at its results.
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { type FileInput, type RecordOrigin, readOriginBlocks } from '../data-file.ts'

/**
 * Parquet alone keeps columns apart; files of other formats have been read with all of their columns. One page of each column is in
 * memory. Throws `OfflineCommandError` (1) for what the table of the records cannot have, such as a value of more than 1 MiB.
 */
export async function requireReadableColumns(
  origins: readonly RecordOrigin[],
  input: FileInput,
  onProgress: EngineProgressListener,
): Promise<void> {
  for (const origin of origins) {
    const { kind, isWanted } = origin.reading
    if ((kind !== 'parquet' && kind !== 'dataset') || origin.names.every(isWanted)) continue
    try {
      const blocks = readOriginBlocks(origin, input, (done, total) => onProgress({ phase: 'read', done, total }))
      for await (const _ of blocks);
    } catch (error) {
      if (!(error instanceof OfflineCommandError)) throw error
      const { exit, message, remedy, details } = error
      const advice = '--ids-only reads the columns of the lens alone, and writes no values of the data'
      throw new OfflineCommandError(exit, message, remedy === undefined ? advice : `${remedy}; ${advice}`, details)
    }
  }
}

// The dataset at whose cursor a reading begins.
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DatasetCursor } from '../../../kernel/data/landed-dataset.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { inputFolder, readManifest } from '../steps/dataset-store.ts'
import type { TaskThreadJob } from '../thread-job.ts'

/** `origin`: the part of the cursor of the new dataset that says where it comes from. */
export type CursorBase = {
  readonly origin: Pick<DatasetCursor, 'of' | 'after'>
  /** Absent for the first reading. */
  readonly cursor?: DatasetCursor
  readonly columns?: DataSchema
}

/** Throws `RowSourceError` where the dataset is gone, or is another one: what has landed is not known any more. */
export function openCursorBase(job: TaskThreadJob): CursorBase {
  const { cursor } = job
  if (!cursor)
    throw new RowSourceError(
      'cursor_column, only_new and ingest_queue need the service of the site, which keeps what has landed',
    )
  const { of, base } = cursor
  if (!base) return { origin: { of } }
  const reading = readManifest(inputFolder(job, base))
  if (reading?.digest !== base.digest || !reading.dataset.cursor)
    throw new RowSourceError(
      `the dataset ${base.dataset} of the run before, which has the cursor, is gone or was changed: restore it, or begin again with another cursor_generation`,
    )
  const { cursor: landed, columns } = reading.dataset
  return { origin: { of, after: base.digest }, cursor: landed, columns }
}

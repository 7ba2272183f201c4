// What lands of a connection: its Parquet files as they are, or the rows of its source as a file of JSON lines.
import { join } from 'node:path'
import * as z from 'zod'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { ingestDatabase } from '../../../roles/ingest/operator/ingest-database.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { openRowSource } from './open-source.ts'
import { listParquetFiles, openParquetFile } from './parquet-files.ts'
import { stageRows } from './stage-rows.ts'

/** Writes into the folder of drafts. Throws `RowSourceError`, `TenantDataFileError`. */
export async function openDatabaseInputs(job: TaskThreadJob): Promise<readonly LandingInput[]> {
  const { connection } = job
  if (!connection) throw new RowSourceError('the task has no connection')
  const { table, columns } = ingestDatabase.params.parse(job.task.params)
  if (connection.conn_type === 'parquet') {
    if (table !== undefined || columns !== undefined)
      throw new RowSourceError('Parquet files have no table, and land with all their columns')
    return listParquetFiles(connection, job.data_folder).map((name) => ({
      ...{ name: name.split('/').at(-1) ?? name, label: name, format: { kind: 'parquet' } },
      open: () => openParquetFile(connection, job.data_folder, name),
    }))
  }
  const name = table ?? requireDefaultTable(connection)
  const staged = join(job.drafts, 'rows')
  const source = await openRowSource(connection, job, join(job.drafts, 'copy'))
  try {
    await stageRows(source, { table: name, columns }, staged)
  } finally {
    await source.close()
  }
  return [{ name: `${name}.jsonl`, label: name, format: { kind: 'jsonl' }, open: () => openPlainFile(staged) }]
}

function requireDefaultTable({ conn_type, config }: OpenConnection): string {
  const { index } = z.looseObject({ index: z.string().optional() }).parse(config)
  if (index === undefined) throw new RowSourceError(`a task that reads ${conn_type} names a table`)
  return index
}

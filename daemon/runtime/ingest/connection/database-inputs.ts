// What lands of a connection: its Parquet files as they are, or the rows of its source as a file of JSON lines, with their types.
import { join } from 'node:path'
import * as z from 'zod'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import { ingestDatabase } from '../../../roles/ingest/operator/ingest-database.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { openRowSource } from './open-source.ts'
import { listParquetFiles, openParquetFile } from './parquet-files.ts'
import { stageRows } from './stage-rows.ts'

/** `columns`: those whose type the source states. */
export type DatabaseInputs = { readonly inputs: readonly LandingInput[]; readonly columns: DataSchema }

/** Writes into the folder of drafts. Throws `RowSourceError`, `TenantDataFileError`. */
export async function openDatabaseInputs(job: TaskThreadJob): Promise<DatabaseInputs> {
  const { connection } = job
  if (!connection) throw new RowSourceError('the task has no connection')
  const { table, columns } = ingestDatabase.params.parse(job.task.params)
  if (connection.conn_type === 'parquet') {
    if (table !== undefined || columns !== undefined)
      throw new RowSourceError('Parquet files have no table, and land with all their columns')
    const inputs = listParquetFiles(connection, job.data_folder).map((name) => ({
      ...{ name: name.split('/').at(-1) ?? name, label: name, format: { kind: 'parquet' as const } },
      open: () => openParquetFile(connection, job.data_folder, name),
    }))
    return { inputs, columns: [] }
  }
  const name = table ?? requireDefaultTable(connection)
  const staged = join(job.drafts, 'rows')
  const source = await openRowSource(connection, job, join(job.drafts, 'copy'))
  let stated: DataSchema = []
  try {
    const rows = await stageRows(source, { table: name, columns }, staged)
    // A file without rows has no columns.
    if (rows > 0) stated = source.statedColumns?.() ?? []
  } finally {
    await source.close()
  }
  const open = () => openPlainFile(staged)
  return { inputs: [{ name: `${name}.jsonl`, label: name, format: { kind: 'jsonl' }, open }], columns: stated }
}

function requireDefaultTable({ conn_type, config }: OpenConnection): string {
  const { index } = z.looseObject({ index: z.string().optional() }).parse(config)
  if (index === undefined) throw new RowSourceError(`a task that reads ${conn_type} names a table`)
  return index
}

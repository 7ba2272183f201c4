// What lands of a connection: its Parquet files as they are, or the rows of its source as a file of JSON lines, with their types.
import { join } from 'node:path'
import * as z from 'zod'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DatasetCursor, DatasetInput } from '../../../kernel/data/landed-dataset.ts'
import { ingestDatabase } from '../../../roles/ingest/operator/ingest-database.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { type CursorBase, openCursorBase } from './cursor-base.ts'
import { addKnownFiles, baseName, findNewFiles } from './new-files.ts'
import { NewRows } from './new-rows.ts'
import { openRowSource } from './open-source.ts'
import { listParquetFiles, openParquetFile } from './parquet-files.ts'
import { stageRows } from './stage-rows.ts'

/** `columns`: those whose type the source states; all of them where nothing is new. */
export type SourceInputs = {
  readonly inputs: readonly LandingInput[]
  readonly columns: DataSchema
  readonly news?: NewsOfSource
}

/** Of a task that reads what is new. */
export type NewsOfSource = {
  readonly isEmpty: boolean
  readonly describeCursor: (inputs: readonly DatasetInput[]) => DatasetCursor
  readonly remark: string
}

/** Writes into the folder of drafts. Throws `RowSourceError`, `TenantDataFileError`. */
export async function openDatabaseInputs(job: TaskThreadJob): Promise<SourceInputs> {
  const { connection } = job
  if (!connection) throw new RowSourceError('the task has no connection')
  return await (connection.conn_type === 'parquet' ? listFiles(job, connection) : readTable(job, connection))
}

async function listFiles(job: TaskThreadJob, connection: OpenConnection): Promise<SourceInputs> {
  const { table, columns, cursor_column, only_new } = ingestDatabase.params.parse(job.task.params)
  if (table !== undefined || columns !== undefined || cursor_column !== undefined)
    throw new RowSourceError('Parquet files have no table and no cursor_column, and land with all their columns')
  const open = (name: string) => openParquetFile(connection, job.data_folder, name)
  const inputOf = (name: string) => ({
    ...{ name: baseName(name), label: name, format: { kind: 'parquet' as const } },
    open: () => open(name),
  })
  if (!only_new) return { inputs: listParquetFiles(connection, job.data_folder).map(inputOf), columns: [] }
  const base = openCursorBase(job)
  const present = listParquetFiles(connection, job.data_folder, base.cursor !== undefined)
  const known = base.cursor?.files ?? []
  const found = await findNewFiles(present, known, open)
  const news: NewsOfSource = {
    isEmpty: found.length === 0,
    describeCursor: (inputs) => ({ ...base.origin, files: addKnownFiles(known, inputs, present) }),
    remark: `took ${found.length} of ${present.length} files: the others have landed before`,
  }
  return { inputs: found.map(inputOf), columns: news.isEmpty ? (base.columns ?? []) : [], news }
}

async function readTable(job: TaskThreadJob, connection: OpenConnection): Promise<SourceInputs> {
  const { table, columns, values, cursor_column, only_new } = ingestDatabase.params.parse(job.task.params)
  if (values !== undefined && connection.conn_type !== 'redis')
    throw new RowSourceError('values is for strings of Redis')
  if (only_new) throw new RowSourceError('only_new is for Parquet files: name a cursor_column')
  const name = table ?? requireDefaultTable(connection)
  const base = cursor_column === undefined ? undefined : openCursorBase(job)
  const rows = cursor_column === undefined ? undefined : new NewRows(cursor_column, base?.cursor?.position)
  const staged = join(job.drafts, 'rows')
  const source = await openRowSource(connection, job, join(job.drafts, 'copy'), { values })
  let stated: DataSchema = []
  let isEmpty = false
  try {
    isEmpty = (await stageRows(source, { table: name, columns }, staged, rows)) === 0
    // A file without rows has no columns.
    if (!isEmpty) stated = source.statedColumns?.() ?? []
    else if (rows) stated = base?.columns ?? source.usualColumns?.() ?? []
  } finally {
    await source.close()
  }
  const open = () => openPlainFile(staged)
  const inputs = [{ name: `${name}.jsonl`, label: name, format: { kind: 'jsonl' as const }, isSource: true, open }]
  return { inputs, columns: stated, ...(base && rows && { news: describeNews(base, rows, isEmpty) }) }
}

function describeNews(base: CursorBase, rows: NewRows, isEmpty: boolean): NewsOfSource {
  const position = rows.position()
  const at = position ? `at ${JSON.stringify(position.value.slice(0, 64))}` : 'at the beginning'
  return {
    isEmpty,
    describeCursor: () => ({ ...base.origin, ...(position && { position }) }),
    remark: `left out ${rows.known} rows that have landed before; the cursor is ${at}`,
  }
}

function requireDefaultTable({ conn_type, config }: OpenConnection): string {
  const { index } = z.looseObject({ index: z.string().optional() }).parse(config)
  if (index === undefined)
    throw new RowSourceError(`a task that reads ${conn_type} names a table, or a pattern of keys`)
  return index
}

// Tests a connection in a thread: whether its source can be opened, and is what its type says.
import * as z from 'zod'
import { DataFileError } from '../../../../adapters/platform/data-file/data-file.ts'
import { openTenantDataFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { ConnectionTest } from '../../../roles/ingest/connection/model.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { object_types, openObjectSource } from '../object-store/open-object-source.ts'
import type { ProbeThreadJob, SourceSettings } from '../thread-job.ts'
import { hasMessages, openMessageSource } from './open-messages.ts'
import { openRowSource } from './open-source.ts'
import { refuseJournals } from './open-sqlite.ts'
import { listParquetFiles } from './parquet-files.ts'

/** Faults of the source are answers, in words without a path. */
export async function probeConnection(job: ProbeThreadJob): Promise<ConnectionTest> {
  try {
    return { ok: true, detail: await findProbe(job.connection.conn_type)(job) }
  } catch (error) {
    if (error instanceof RowSourceError || error instanceof TenantDataFileError)
      return { ok: false, detail: error.message }
    if (error instanceof DataFileError) return { ok: false, detail: `the data file ${error.message}` }
    throw error
  }
}

type Probe = (job: ProbeThreadJob) => string | Promise<string>
const probes: Readonly<Record<string, Probe>> = { sqlite: probeSqlite, parquet: probeParquet }

function findProbe(conn_type: string): Probe {
  return probes[conn_type] ?? (object_types.includes(conn_type) ? probeObjects : probeServer)
}

async function probeObjects(job: ProbeThreadJob): Promise<string> {
  const source = await openObjectSource(job.connection, job)
  try {
    const { prefix = '' } = z.looseObject({ prefix: z.string().optional() }).parse(job.connection.config)
    return await source.probe(prefix, new AbortController().signal)
  } finally {
    source.close()
  }
}

async function probeServer(job: ProbeThreadJob): Promise<string> {
  const { connection } = job
  const source = hasMessages(connection.conn_type)
    ? await openMessageSource(connection, job)
    : await openRowSource(connection, job, '')
  try {
    return await source.probe(new AbortController().signal)
  } finally {
    await source.close()
  }
}

/** Its beginning alone: a run copies the whole file, which may take longer than a test, and leave the copy. */
function probeSqlite({ connection, ...settings }: ProbeThreadJob): string {
  const { file } = z.looseObject({ file: z.string() }).parse(connection.config)
  refuseJournals(connection, settings, file)
  return `a SQLite database of ${probeMagic(connection, settings, file, 'SQLite format 3\0', 'a SQLite database')} bytes`
}

function probeParquet({ connection, ...settings }: ProbeThreadJob): string {
  const names = listParquetFiles(connection, settings.data_folder)
  for (const name of names) probeMagic(connection, settings, name, 'PAR1', 'a Parquet file')
  return `${names.length} Parquet file${names.length === 1 ? '' : 's'}`
}

/** The size of a file that begins so. Throws `TenantDataFileError`. */
function probeMagic(
  { tenant_id }: OpenConnection,
  { data_folder }: SourceSettings,
  name: string,
  magic: string,
  kind: string,
): number {
  const file = openTenantDataFile(data_folder, tenant_id, name)
  try {
    const beginning = Buffer.from(file.read(0, Math.min(file.size, magic.length))).toString('latin1')
    if (beginning !== magic) throw new TenantDataFileError(`the data file is not ${kind}`)
    return file.size
  } finally {
    file.close()
  }
}

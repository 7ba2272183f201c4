// Performs one try of a task in a thread: reads what it takes, and lands what it makes.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inferDataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { openTenantDataFile, TenantDataFileError } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { openFaultStop } from '../../boot/host/fault-stop.ts'
import { dataset_manifest_name, type LandedDataset, landedDataset } from '../../kernel/data/landed-dataset.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import type { LandedSummary } from '../../roles/ingest/dataset/model.ts'
import type { IngestFaultPoint } from '../../roles/ingest/fault-points.ts'
import { ingestDatabase } from '../../roles/ingest/operator/ingest-database.ts'
import { ingestFile } from '../../roles/ingest/operator/ingest-file.ts'
import type { TaskOutcome } from '../../roles/ingest/parts.ts'
import { RowSourceError } from '../../shared/row-source/row-source.ts'
import { openDatabaseInputs } from './connection/database-inputs.ts'
import { landFiles } from './landing/land-files.ts'
import { LandingError } from './landing/landing-error.ts'
import type { LandingInput } from './landing/landing-input.ts'
import type { TaskThreadJob } from './thread-job.ts'

/** Returns faults of the data, of the task and of the disk as failures, with a message for the author of the pipeline. */
export async function performTask(job: TaskThreadJob): Promise<TaskOutcome> {
  try {
    return (
      (await performers[job.task.operator]?.(job)) ?? failFinally(`this version has no operator ${job.task.operator}`)
    )
  } catch (error) {
    if (error instanceof TenantDataFileError) return fail(error.message, error.isFinal)
    if (error instanceof RowSourceError) return fail(error.message, error.isFinal)
    if (error instanceof LandingError) return describeLandingError(error, job)
    // Without the path, which is of the machine: the disk may have room later.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    return fail(`the service cannot write the dataset: ${code}`, false)
  }
}

/** A fault of the disk names the folder, which is of the machine; the disk may have room later. */
function describeLandingError({ message, details }: LandingError, job: TaskThreadJob): TaskOutcome {
  const { folder } = datasetOf(job)
  const reason = [message.replaceAll(folder, 'the dataset'), ...details].join('\n')
  return fail(reason, !message.includes(folder))
}

type TaskFunction = (job: TaskThreadJob) => Promise<TaskOutcome>

const performers: Readonly<Record<string, TaskFunction>> = {
  [ingestFile.name]: performIngestFile,
  [ingestDatabase.name]: performIngestDatabase,
}

function fail(reason: string, isFinal: boolean): TaskOutcome {
  return { log: `${reason}\n`, failure: { reason, isFinal } }
}

const failFinally = (reason: string) => fail(reason, true)

async function performIngestFile(job: TaskThreadJob): Promise<TaskOutcome> {
  const { file, max_rejects } = ingestFile.params.parse(job.task.params)
  const input = {
    ...{ name: basename(file), label: file, format: { kind: inferDataKind(file) ?? 'csv' } },
    open: () => openTenantDataFile(job.data_folder, job.tenant_id, file),
  } as const
  return await landOnce(job, max_rejects, async (land) => await land([input]))
}

async function performIngestDatabase(job: TaskThreadJob): Promise<TaskOutcome> {
  const { max_rejects } = ingestDatabase.params.parse(job.task.params)
  return await landOnce(job, max_rejects, async (land) => {
    const staged = await openDatabaseInputs(job)
    passFaultPoint(job, 'ingest-landing-staged')
    return await land(staged)
  })
}

type Land = (inputs: readonly LandingInput[]) => Promise<readonly string[]>

async function landOnce(
  job: TaskThreadJob,
  max_rejects: number,
  perform: (land: Land) => Promise<readonly string[]>,
): Promise<TaskOutcome> {
  const { name, folder } = datasetOf(job)
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  // A try before may have landed it, and ended before its run knew.
  const landed = readManifest(folder)
  if (landed) {
    syncParents(folder, job.datasets)
    return { log: `${describe(landed.dataset)}\n`, dataset: summarize(name, landed) }
  }
  const land: Land = async (inputs) => {
    const onDrafted = () => passFaultPoint(job, 'ingest-landing-drafted')
    const { drafts } = job
    const options = { inputs, out: folder, drafts, onDrafted, columns: [], limit: { count: max_rejects } }
    return (await landFiles({ ...options, runAs: <T>(action: () => T) => action() }, () => undefined)).remarks
  }
  mkdirSync(job.drafts, { mode: 0o700 })
  const remarks = await perform(land)
  passFaultPoint(job, 'ingest-landing-named')
  syncParents(folder, job.datasets)
  const made = readManifest(folder)
  if (!made) throw new Error('the dataset that landed is gone')
  const log = [...remarks, describe(made.dataset)].map((line) => `${line}\n`).join('')
  return { log, dataset: summarize(name, made) }
}

/** The folder of what a task of a run makes. */
function datasetOf({ datasets, tenant_id, run, task }: TaskThreadJob): {
  readonly name: string
  readonly folder: string
} {
  const name = `${run}/${task.name}`
  const parent = join(datasets, tenantFolder(tenant_id), run)
  return { name, folder: join(parent, task.name) }
}

/** A tenant may have any name: of letters that folders take as they are, or else a digest. */
function tenantFolder(tenant_id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(tenant_id)) return tenant_id
  return `_${createHash('sha256').update(tenant_id).digest('hex').slice(0, 32)}`
}

function passFaultPoint({ faultPoint = '' }: TaskThreadJob, point: IngestFaultPoint): void {
  openFaultStop?.(faultPoint)?.(point)
}

/** Makes the folders of a dataset durable, up to that of the site, which exists. */
function syncParents(folder: string, datasets: string): void {
  for (let each = dirname(folder); each.length >= dirname(datasets).length; each = dirname(each)) syncFolder(each)
}

type ManifestReading = { readonly dataset: LandedDataset; readonly digest: string }

function readManifest(folder: string): ManifestReading | undefined {
  const file = join(folder, dataset_manifest_name)
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  const dataset = parseJsonAs(landedDataset, bytes)
  return dataset && { dataset, digest: createHash('sha256').update(bytes).digest('hex') }
}

function summarize(name: string, { dataset, digest }: ManifestReading): LandedSummary {
  const { rows, files, inputs, rejects } = dataset
  return {
    ...{ dataset: name, rows, rejects: rejects.rows, digest },
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    inputs: inputs.map(({ name: input, bytes, sha256 }) => ({ name: input, bytes, digest: sha256 })),
  }
}

function describe({ rows, rejects, columns }: LandedDataset): string {
  return `landed ${rows} rows of ${columns.length} columns; ${rejects.rows} rejected`
}

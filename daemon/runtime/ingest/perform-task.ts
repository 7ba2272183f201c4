// Performs one try of a task in a thread: reads what it takes, and lands what it makes.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inferDataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { openTenantDataFile, TenantDataFileError } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import { dataset_manifest_name, type LandedDataset, landedDataset } from '../../kernel/data/landed-dataset.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import type { LandedSummary } from '../../roles/ingest/dataset/model.ts'
import { ingestFile } from '../../roles/ingest/operator/ingest-file.ts'
import type { TaskOutcome } from '../../roles/ingest/parts.ts'
import { landFiles } from './landing/land-files.ts'
import { LandingError } from './landing/landing-error.ts'
import type { TaskThreadJob } from './thread-job.ts'

/** A fault of the data or of the task, with a message for the author of the pipeline. */
export async function performTask(job: TaskThreadJob): Promise<TaskOutcome> {
  try {
    return (
      (await performers[job.task.operator]?.(job)) ?? failFinally(`this version has no operator ${job.task.operator}`)
    )
  } catch (error) {
    if (error instanceof TenantDataFileError) return fail(error.message, error.isFinal)
    if (error instanceof LandingError) return failFinally([error.message, ...error.details].join('\n'))
    throw error
  }
}

type TaskFunction = (job: TaskThreadJob) => Promise<TaskOutcome>

const performers: Readonly<Record<string, TaskFunction>> = { [ingestFile.name]: performIngestFile }

function fail(reason: string, isFinal: boolean): TaskOutcome {
  return { log: `${reason}\n`, failure: { reason, isFinal } }
}

const failFinally = (reason: string) => fail(reason, true)

async function performIngestFile(job: TaskThreadJob): Promise<TaskOutcome> {
  const { file, max_rejects } = ingestFile.params.parse(job.task.params)
  const { name, folder } = datasetOf(job)
  // A try before may have landed it, and ended before its run knew.
  const landed = readManifest(folder)
  if (landed) return { log: describe(landed.dataset), dataset: summarize(name, landed) }
  const input = {
    ...{ name: file, label: file, format: { kind: inferDataKind(file) ?? 'csv' } },
    open: () => openTenantDataFile(job.data_folder, job.tenant_id, file),
  } as const
  const limit = { count: max_rejects }
  const options = { inputs: [input], out: folder, columns: [], limit, runAs: <T>(action: () => T) => action() }
  const { remarks } = await landFiles(options, () => undefined)
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
  const parent = join(datasets, encodeURIComponent(tenant_id), encodeURIComponent(run))
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  return { name, folder: join(parent, task.name) }
}

type ReadManifest = { readonly dataset: LandedDataset; readonly digest: string }

function readManifest(folder: string): ReadManifest | undefined {
  const file = join(folder, dataset_manifest_name)
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  const dataset = parseJsonAs(landedDataset, bytes)
  return dataset && { dataset, digest: createHash('sha256').update(bytes).digest('hex') }
}

function summarize(name: string, { dataset, digest }: ReadManifest): LandedSummary {
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

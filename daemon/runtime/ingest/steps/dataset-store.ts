// The folders of the datasets that tasks make: each is landed once, whatever was left by a try before.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { datasetFolder } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import { syncFolder } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { openFaultStop } from '../../../boot/host/fault-stop.ts'
import { dataset_manifest_name, type LandedDataset, landedDataset } from '../../../kernel/data/landed-dataset.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import type { LandedCursor, LandedSummary } from '../../../roles/ingest/dataset/model.ts'
import type { IngestFaultPoint } from '../../../roles/ingest/fault-points.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { makeFolder, shareDataset } from '../handover/shared-folder.ts'
import type { DatasetPlace } from '../landing/land-blocks.ts'
import type { TaskThreadJob } from '../thread-job.ts'

/** Makes the dataset of the task in its place; returns lines for its log. */
export type DatasetMaker = (place: DatasetPlace) => Promise<readonly string[]>

export async function landOnce(job: TaskThreadJob, make: DatasetMaker): Promise<TaskOutcome> {
  const { name, folder } = datasetOf(job)
  makeFolder(job.datasets, dirname(folder))
  // A try before may have landed it, and ended before its run knew.
  const landed = readManifest(folder)
  if (landed) {
    shareDataset(folder)
    syncParents(folder, job.datasets)
    return { log: `${describe(landed.dataset)}\n`, ...outcomeOf(name, landed) }
  }
  mkdirSync(job.drafts, { mode: 0o700 })
  const onDrafted = () => passFaultPoint(job, 'ingest-landing-drafted')
  const remarks = await make({ out: folder, drafts: job.drafts, onDrafted })
  passFaultPoint(job, 'ingest-landing-named')
  shareDataset(folder)
  syncParents(folder, job.datasets)
  const made = readManifest(folder)
  if (!made) throw new Error('the dataset that landed is gone')
  const log = [...remarks, describe(made.dataset)].map((line) => `${line}\n`).join('')
  return { log, ...outcomeOf(name, made) }
}

function outcomeOf(name: string, reading: ManifestReading) {
  const cursor = cursorOf(reading.dataset)
  return { dataset: summarize(name, reading), ...(cursor && { cursor }) }
}

export function cursorOf({ cursor }: LandedDataset): LandedCursor | undefined {
  return cursor && { of: cursor.of, ...(cursor.after !== undefined && { after: cursor.after }) }
}

/** The folder of what a task of a run makes. */
export function datasetOf({ datasets, tenant_id, run, task }: TaskThreadJob): {
  readonly name: string
  readonly folder: string
} {
  const name = `${run}/${task.name}`
  return { name, folder: datasetFolder(datasets, tenant_id, name) }
}

/** The folder of a dataset that a task before it made, or the run before. */
export function inputFolder(
  { datasets, tenant_id }: Pick<TaskThreadJob, 'datasets' | 'tenant_id'>,
  { dataset }: Pick<LandedSummary, 'dataset'>,
): string {
  return datasetFolder(datasets, tenant_id, dataset)
}

export function passFaultPoint({ faultPoint = '' }: TaskThreadJob, point: IngestFaultPoint): void {
  openFaultStop?.(faultPoint)?.(point)
}

/** Makes the folders of a dataset durable, up to that of the site, which exists. */
function syncParents(folder: string, datasets: string): void {
  for (let each = dirname(folder); each.length >= dirname(datasets).length; each = dirname(each)) syncFolder(each)
}

export type ManifestReading = { readonly dataset: LandedDataset; readonly digest: string }

export function readManifest(folder: string): ManifestReading | undefined {
  const file = join(folder, dataset_manifest_name)
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  const dataset = parseJsonAs(landedDataset, bytes)
  return dataset && { dataset, digest: createHash('sha256').update(bytes).digest('hex') }
}

function summarize(name: string, { dataset, digest }: ManifestReading): LandedSummary {
  const { rows, files, inputs, rejects, checks } = dataset
  return {
    ...{ dataset: name, rows, rejects: rejects.rows, digest },
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    inputs: inputs.map(({ name: input, bytes, sha256, rows: taken, rejects: left }) => {
      return { name: input, bytes, digest: sha256, rows: taken + left }
    }),
    ...(checks && { checks: [...checks] }),
  }
}

function describe({ rows, rejects, columns }: LandedDataset): string {
  return `landed ${rows} rows of ${columns.length} columns; ${rejects.rows} rejected`
}

// The performers of the operators of the catalog, by name.
import { basename } from 'node:path'
import { openTenantDataFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import { aggregate } from '../../../roles/ingest/operator/aggregate.ts'
import { cast } from '../../../roles/ingest/operator/cast.ts'
import { filter } from '../../../roles/ingest/operator/filter.ts'
import { ingestDatabase } from '../../../roles/ingest/operator/ingest-database.ts'
import { ingestFile } from '../../../roles/ingest/operator/ingest-file.ts'
import { ingestHttp } from '../../../roles/ingest/operator/ingest-http.ts'
import { ingestLandingZone } from '../../../roles/ingest/operator/ingest-landing-zone.ts'
import { ingestObjects } from '../../../roles/ingest/operator/ingest-objects.ts'
import { join } from '../../../roles/ingest/operator/join.ts'
import { rename } from '../../../roles/ingest/operator/rename.ts'
import { select } from '../../../roles/ingest/operator/select.ts'
import { validate } from '../../../roles/ingest/operator/validate.ts'
import { write } from '../../../roles/ingest/operator/write.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { type NewsOfSource, openDatabaseInputs, type SourceInputs } from '../connection/database-inputs.ts'
import { openHttpInput } from '../http-source/http-input.ts'
import { type DatasetPlace, landBlocks } from '../landing/land-blocks.ts'
import { type LandingProgress, landFiles } from '../landing/land-files.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import { inferFormat, toDataFormat } from '../landing/stated-format.ts'
import { openObjectInputs } from '../object-store/object-inputs.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { openCarriedFile } from '../zone/carried-input.ts'
import { aggregateRows } from './aggregate-rows.ts'
import { castRows } from './cast-rows.ts'
import { landOnce, passFaultPoint } from './dataset-store.ts'
import { filterRows } from './filter-rows.ts'
import { joinRows } from './join-rows.ts'
import { renameColumns } from './rename-columns.ts'
import { selectColumns } from './select-columns.ts'
import { performTransform } from './transform.ts'
import { validateRows } from './validate-rows.ts'
import { writeOutput } from './write-output.ts'

export type ProgressReport = (progress: LandingProgress) => void

type TaskFunction = (job: TaskThreadJob, report: ProgressReport) => Promise<TaskOutcome>

export const performers: Readonly<Record<string, TaskFunction>> = {
  [ingestFile.name]: performIngestFile,
  [ingestDatabase.name]: performIngestDatabase,
  [ingestLandingZone.name]: performIngestLandingZone,
  [ingestHttp.name]: performIngestHttp,
  [ingestObjects.name]: performIngestObjects,
  [select.name]: (job) => performTransform(job, select, selectColumns),
  [rename.name]: (job) => performTransform(job, rename, renameColumns),
  [cast.name]: (job) => performTransform(job, cast, castRows),
  [filter.name]: (job) => performTransform(job, filter, filterRows),
  [join.name]: (job) => performTransform(job, join, joinRows),
  [aggregate.name]: (job) => performTransform(job, aggregate, aggregateRows),
  [write.name]: writeOutput,
  [validate.name]: (job) => performTransform(job, validate, validateRows),
}

async function performIngestFile(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { file, read_as, max_rejects } = ingestFile.params.parse(job.task.params)
  const input = {
    ...{ name: basename(file), label: file, format: toDataFormat(inferFormat(file, read_as), read_as) },
    open: () => openTenantDataFile(job.data_folder, job.tenant_id, file),
  } as const
  return await landOnce(job, (place) => landInputs(place, [input], max_rejects, report))
}

async function performIngestLandingZone(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { max_rejects } = ingestLandingZone.params.parse(job.task.params)
  return await landOnce(job, async (place) => await landInputs(place, [openCarriedFile(job)], max_rejects, report))
}

async function performIngestDatabase(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { max_rejects } = ingestDatabase.params.parse(job.task.params)
  return await performByConnection(job, max_rejects, openDatabaseInputs, report)
}

async function performIngestObjects(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { max_rejects } = ingestObjects.params.parse(job.task.params)
  return await performByConnection(job, max_rejects, openObjectInputs, report)
}

async function performByConnection(
  job: TaskThreadJob,
  max_rejects: number,
  open: (job: TaskThreadJob) => Promise<SourceInputs>,
  report: ProgressReport,
): Promise<TaskOutcome> {
  return await landOnce(job, async (place) => {
    const staged = await open(job)
    passFaultPoint(job, 'ingest-landing-staged')
    const { inputs, columns, news } = staged
    const remarks = news?.isEmpty
      ? await landNothing(place, columns, news)
      : await landInputs(place, inputs, max_rejects, report, columns, news)
    return news ? [...remarks, news.remark] : remarks
  })
}

/** The columns of what has landed before: tasks after it find them. */
async function landNothing(
  place: DatasetPlace,
  columns: DataSchema,
  { describeCursor }: NewsOfSource,
): Promise<readonly string[]> {
  await landBlocks({
    ...{ ...place, columns, limit: { count: 0 } },
    async *make() {},
    describe: () => ({ inputs: [], cursor: describeCursor([]) }),
  })
  return []
}

async function performIngestHttp(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { max_rejects } = ingestHttp.params.parse(job.task.params)
  return await landOnce(job, async (place) => {
    const input = await openHttpInput(job)
    passFaultPoint(job, 'ingest-landing-staged')
    return await landInputs(place, [input], max_rejects, report)
  })
}

async function landInputs(
  place: DatasetPlace,
  inputs: readonly LandingInput[],
  max_rejects: number,
  report: ProgressReport,
  columns: DataSchema = [],
  news?: NewsOfSource,
): Promise<readonly string[]> {
  const limit = { count: max_rejects }
  const options = { ...place, inputs, columns, limit, describeCursor: news?.describeCursor }
  return (await landFiles({ ...options, runAs: (action) => action() }, report)).remarks
}

// The performers of the operators of the catalog, by name.
import { basename } from 'node:path'
import { openTenantDataFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { aggregate } from '../../../roles/ingest/operator/aggregate.ts'
import { cast } from '../../../roles/ingest/operator/cast.ts'
import { externalDispatch } from '../../../roles/ingest/operator/external-dispatch.ts'
import { filter } from '../../../roles/ingest/operator/filter.ts'
import { ingestDatabase } from '../../../roles/ingest/operator/ingest-database.ts'
import { ingestFile } from '../../../roles/ingest/operator/ingest-file.ts'
import { ingestHttp } from '../../../roles/ingest/operator/ingest-http.ts'
import { ingestLandingZone } from '../../../roles/ingest/operator/ingest-landing-zone.ts'
import { ingestObjects } from '../../../roles/ingest/operator/ingest-objects.ts'
import { ingestQueue } from '../../../roles/ingest/operator/ingest-queue.ts'
import { join } from '../../../roles/ingest/operator/join.ts'
import { rename } from '../../../roles/ingest/operator/rename.ts'
import { select } from '../../../roles/ingest/operator/select.ts'
import { testCall } from '../../../roles/ingest/operator/test-call.ts'
import { validate } from '../../../roles/ingest/operator/validate.ts'
import { verifyResponseJson } from '../../../roles/ingest/operator/verify-response-json.ts'
import { write } from '../../../roles/ingest/operator/write.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { openDatabaseInputs, type SourceInputs } from '../connection/database-inputs.ts'
import { openHttpInput } from '../http-source/http-input.ts'
import { inferFormat, toDataFormat } from '../landing/stated-format.ts'
import { openObjectInputs } from '../object-store/object-inputs.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { openCarriedFile } from '../zone/carried-input.ts'
import { aggregateRows } from './aggregate-rows.ts'
import { castRows } from './cast-rows.ts'
import { landOnce, passFaultPoint } from './dataset-store.ts'
import { filterRows } from './filter-rows.ts'
import { joinRows } from './join-rows.ts'
import { landInputs, landNothing, type ProgressReport } from './land-inputs.ts'
import { performExternalDispatch } from './perform-external-dispatch.ts'
import { performIngestQueue } from './perform-ingest-queue.ts'
import { performTestCall } from './perform-test-call.ts'
import { renameColumns } from './rename-columns.ts'
import { selectColumns } from './select-columns.ts'
import { performTransform } from './transform.ts'
import { validateRows } from './validate-rows.ts'
import { verifyResponse } from './verify-response.ts'
import { writeOutput } from './write-output.ts'

type TaskFunction = (job: TaskThreadJob, report: ProgressReport) => Promise<TaskOutcome>

export const performers: Readonly<Record<string, TaskFunction>> = {
  [ingestFile.name]: performIngestFile,
  [ingestDatabase.name]: performIngestDatabase,
  [ingestLandingZone.name]: performIngestLandingZone,
  [ingestHttp.name]: performIngestHttp,
  [ingestObjects.name]: performIngestObjects,
  [ingestQueue.name]: performIngestQueue,
  [select.name]: (job) => performTransform(job, select, selectColumns),
  [rename.name]: (job) => performTransform(job, rename, renameColumns),
  [cast.name]: (job) => performTransform(job, cast, castRows),
  [filter.name]: (job) => performTransform(job, filter, filterRows),
  [join.name]: (job) => performTransform(job, join, joinRows),
  [aggregate.name]: (job) => performTransform(job, aggregate, aggregateRows),
  [write.name]: writeOutput,
  [externalDispatch.name]: performExternalDispatch,
  [testCall.name]: performTestCall,
  [verifyResponseJson.name]: verifyResponse,
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

async function performIngestHttp(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const { max_rejects } = ingestHttp.params.parse(job.task.params)
  return await landOnce(job, async (place) => {
    const input = await openHttpInput(job)
    passFaultPoint(job, 'ingest-landing-staged')
    return await landInputs(place, [input], max_rejects, report)
  })
}

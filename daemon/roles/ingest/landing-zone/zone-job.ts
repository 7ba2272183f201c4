// The landing zone as a job: takes one file after the other into custody, runs the pipeline with it, and writes its receipt.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { completeStep, endJob, releaseJob, waitForEvent } from '../../../kernel/job/rules.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import {
  type CallerScheduler,
  type WorkflowRun,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pipelines } from '../datapipeline/model.ts'
import { carriedTotal } from '../metrics.ts'
import { carried_conf_name } from '../operator/ingest-landing-zone.ts'
import { faultPointPart } from '../parts.ts'
import { type CarriedFault, landingZones, type StoredLandingZone, type ZoneArrival } from './model.ts'
import { acceptArrival, beginArrival, endArrival, failZone, nextLook_ms } from './rules.ts'
import { type LandingZoneFiles, landingZoneFilesPart, type ZonePlace } from './zone-files.ts'

/** To copy and scan a large file from a slow medium. */
const step_ms = 3_600_000

export const landingZoneJob = jobKind<StoredLandingZone>({
  name: 'landing-zone',
  collection: landingZones,
  allow: 'ingest:run',
  limits: () => ({ at_once: 4, at_once_per_tenant: 2 }),
  stepLimit_ms: () => step_ms,
  waits: { first_ms: 1_000, longest_ms: 60_000 },
  step: workOnZone,
  fail: (zone, { failure, at }) => failZone(zone, failure, at),
  onFailed: (call) => call.count(carriedTotal, { outcome: 'failed' }),
})

type ZoneWork = {
  readonly call: JobCall
  readonly id: string
  readonly dag_id: string
  readonly place: ZonePlace
  readonly files: LandingZoneFiles
  readonly arrival: ZoneArrival
}

async function workOnZone(call: JobCall, { id, value }: Doc<StoredLandingZone>): Promise<undefined> {
  const { tenant_id, dag_id, arrival } = value
  if (!(await call.service.store(pipelines).find(id))) {
    await change(call, id, (zone) => endJob(zone, 'cancelled', {}))
    return
  }
  const files = call.part(landingZoneFilesPart)
  const place = { tenant_id, pipeline: id }
  if (!arrival) {
    const found = await files.findWaiting(place)
    await change(call, id, (zone) =>
      found ? beginArrival(zone, found, call.now(), call.nowIso()) : waitForEvent(zone, call.now()),
    )
    return
  }
  const work = { call, id, dag_id, place, files, arrival }
  await (arrival.sha256 === undefined ? takeArrival(work) : followRun(work))
}

async function takeArrival(work: ZoneWork): Promise<void> {
  const { call, id, place, files, arrival } = work
  if (arrival.fault) return await quarantine(work, arrival.fault)
  const taken = await files.take(place, arrival, call.signal)
  if (taken === 'gone') {
    await change(call, id, (zone) => endArrival(zone, undefined, call.nowIso()))
    return
  }
  if ('code' in taken) return await quarantine(work, taken)
  call.part(faultPointPart)('ingest-arrival-taken')
  if (await files.findLanded(place, arrival.name, taken.sha256)) {
    await files.discard(place, arrival)
    return await end(work, { outcome: 'duplicate' })
  }
  const refused = await files.scan(place, arrival)
  if (refused) return await quarantine({ ...work, arrival: { ...arrival, ...taken } }, refused)
  await change(call, id, (zone) => acceptArrival(zone, taken, call.nowIso()))
}

/** The same id starts one run, so that a trigger whose answer was lost is repeated without harm. */
async function followRun(work: ZoneWork): Promise<void> {
  const { call, id, dag_id, arrival } = work
  const { number, name, bytes, sha256, dag_run_id } = arrival
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const ref = { dag_id, pipeline: id }
  const run =
    (await scheduler.findRun(ref, dag_run_id)) ??
    (await scheduler.trigger(ref, { dag_run_id, conf: { [carried_conf_name]: { number, name, bytes, sha256 } } }))
  if (isRefusal(run)) throw run
  call.part(faultPointPart)('ingest-arrival-triggered')
  if (run.state === 'queued' || run.state === 'running') {
    const due_ms = call.now() + nextLook_ms(arrival.found_at, call.now())
    await change(call, id, (zone) => releaseJob(completeStep(zone), due_ms))
    return
  }
  if (run.state === 'failed') {
    const reason = await findFailure(scheduler, work, run)
    return await quarantine(work, { code: 'RUN_FAILED', reason })
  }
  await writeReceipt(work, { outcome: 'landed', ...(await countRows(scheduler, work)) })
  await end(work, { outcome: 'landed' })
}

/** Without the log of the task, which may quote rows: carriers read receipts. */
async function findFailure(
  scheduler: CallerScheduler,
  { id, dag_id }: ZoneWork,
  { dag_run_id, reason }: WorkflowRun,
): Promise<string> {
  const tasks = await scheduler.listTasks({ dag_id, pipeline: id }, dag_run_id)
  const failed = isRefusal(tasks) ? undefined : tasks.find(({ state }) => state === 'failed')
  if (failed) return `the task ${failed.task_id} of the run ${dag_run_id} failed: its log says why`
  return `the run ${dag_run_id} failed${reason === undefined ? '' : `: ${reason}`}`
}

/** Rows of the first dataset that the run made of the file. */
async function countRows(scheduler: CallerScheduler, { id, dag_id, arrival }: ZoneWork) {
  const tasks = await scheduler.listTasks({ dag_id, pipeline: id }, arrival.dag_run_id)
  const made = isRefusal(tasks)
    ? undefined
    : tasks.find(({ lineage }) => lineage?.inputs.some(({ digest }) => digest === arrival.sha256))
  return made?.lineage ? { rows: made.lineage.rows_out, rejects: made.lineage.rejects } : {}
}

async function quarantine(work: ZoneWork, fault: CarriedFault): Promise<void> {
  const { call, id, arrival } = work
  await writeReceipt(work, { outcome: 'quarantined', fault })
  const { code, reason } = fault
  call.log.warn('ingest.arrival.quarantined', { pipeline: id, file: arrival.name, code, reason })
  await end(work, { outcome: 'quarantined', reason: `${code}: ${reason}` })
}

async function writeReceipt(
  { call, dag_id, place, files, arrival }: ZoneWork,
  outcome: { outcome: 'landed' | 'quarantined'; fault?: CarriedFault; rows?: number; rejects?: number },
): Promise<void> {
  const { name, bytes, sha256, dag_run_id } = arrival
  const hasRun = outcome.outcome === 'landed' || outcome.fault?.code === 'RUN_FAILED'
  await files.finish(place, arrival, {
    format: 'platform.landing-receipt/1',
    file: name,
    ...outcome,
    ...(bytes === undefined ? {} : { bytes }),
    ...(sha256 === undefined ? {} : { sha256 }),
    dag_id,
    ...(hasRun ? { dag_run_id } : {}),
    ended_at: call.nowIso(),
  })
  call.part(faultPointPart)('ingest-arrival-finished')
}

async function end(
  { call, id, arrival }: ZoneWork,
  how: { readonly outcome: 'landed' | 'duplicate' | 'quarantined'; readonly reason?: string },
): Promise<void> {
  const { name, bytes = 0, sha256 = '' } = arrival
  const { answer: audited } = await call.store(landingZones).update(id, ({ value }) => {
    const detail = { outcome: how.outcome, file: name, bytes, sha256 }
    const audit = [call.audited('ingest.landing-zone.file', id, detail, value.label)]
    return { next: endArrival(value, how, call.nowIso()), answer: true, audit }
  })
  if (audited) call.count(carriedTotal, { outcome: how.outcome })
}

async function change(call: JobCall, id: string, rule: (zone: StoredLandingZone) => StoredLandingZone): Promise<void> {
  await call.store(landingZones).update(id, ({ value }) => ({ next: rule(value), answer: undefined }))
}

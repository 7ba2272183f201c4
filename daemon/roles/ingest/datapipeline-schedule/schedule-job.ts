// The scheduler record as a job: each step triggers the run that is due, in the name of the owner of the schedule, or sees
// what became of the one before.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { describeFailure } from '../../../kernel/job/job-fields.ts'
import { endJob } from '../../../kernel/job/rules.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import {
  type CallerScheduler,
  type DagRef,
  type WorkflowRun,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfObject, kindOfObject } from '../managed-dag/collections.ts'
import { isLive, type ManagedDag } from '../managed-dag/model.ts'
import { scheduledTotal } from '../metrics.ts'
import { faultPointPart } from '../parts.ts'
import { pipelineSchedules, type StoredPipelineSchedule } from './model.ts'
import { planOf } from './plan-schedule.ts'
import {
  awaitTick,
  beginTrigger,
  completeTrigger,
  failSchedule,
  isPermitted,
  observeRun,
  putOffTrigger,
  type StepTime,
  skipTime,
} from './rules.ts'

const minute_ms = 60_000

export const scheduleJob = jobKind<StoredPipelineSchedule>({
  name: 'schedule',
  collection: pipelineSchedules,
  allow: 'ingest:run',
  // One after the other, in all processes.
  limits: () => ({ at_once: 1, at_once_per_tenant: 1 }),
  serial_by: 'queue',
  stepLimit_ms: () => 4 * minute_ms,
  waits: { first_ms: 1_000, longest_ms: 5 * minute_ms },
  step: triggerDueRun,
  // A scheduler that holds a request back, or a machine that was asleep, ends no schedule.
  fail: (value, { failure, at, now_ms }) =>
    failure.code === 'timeout' ? putOffTrigger(value, failure, { now_ms, at }) : failSchedule(value, failure, at),
  onFailed: (call) => call.count(scheduledTotal, { outcome: 'failed' }),
})

async function triggerDueRun(call: JobCall, { id, value }: Doc<StoredPipelineSchedule>): Promise<undefined> {
  const object = await call.store(collectionOfObject(id)).find(id)
  if (!object || value.schedule === undefined) {
    await change(call, id, (record) => endJob(record, 'cancelled', { status: 'idle', next_ts: undefined }))
    return undefined
  }
  const work = { call, object, scheduler: call.part(workflowSchedulerPart).actFor(call) }
  // A trigger that a crash or an outage left: it is found among the runs, or was never there.
  if (value.status === 'triggering') return await trigger(work, value)
  const run = await findTriggered(work, value)
  const isInFlight = isActive(run)
  if (value.next_ts === undefined || value.next_ts > call.now()) {
    await change(call, id, (record) => observeRun(record, isInFlight, timeOf(call)))
    return undefined
  }
  if (call.part(workflowSchedulerPart).ticks && !isPermitted(value)) {
    await change(call, id, (record) => awaitTick(record, isInFlight, timeOf(call)))
    return undefined
  }
  const reason = isInFlight ? 'the scheduled run before it is in flight' : findObstacle(object)
  if (reason !== undefined) return await skip(work, { reason, isInFlight })
  const begun = await change(call, id, (record) => beginTrigger(record, call.nowIso()))
  call.part(faultPointPart)('ingest-schedule-triggering')
  return await trigger(work, begun)
}

type ScheduleWork = {
  readonly call: JobCall
  readonly object: Doc<ManagedDag>
  readonly scheduler: CallerScheduler
}

/** Why no run may be triggered now. */
function findObstacle({ id, value }: Doc<ManagedDag>): string | undefined {
  const noun = kindOfObject(id) === 'effect' ? 'effect' : 'pipeline'
  if (value.is_paused) return `the ${noun} is paused`
  return isLive(value) ? undefined : `the ${noun} is ${value.status}: its DAG is not live`
}

/** The same id starts one run, so that a trigger whose answer was lost is repeated without harm. */
async function trigger(work: ScheduleWork, { trigger_id = '' }: StoredPipelineSchedule): Promise<undefined> {
  const { call, object, scheduler } = work
  try {
    if (!(await findTriggered(work, { trigger_id }))) {
      const reason = findObstacle(object)
      if (reason !== undefined) return await skip(work, { reason, isInFlight: false })
      const run = await scheduler.trigger(refOf(object), { dag_run_id: trigger_id, conf: {} })
      if (isRefusal(run)) throw run
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return await settleRefusal(work, error)
  }
  call.part(faultPointPart)('ingest-schedule-triggered')
  await change(call, object.id, (record) => completeTrigger(record, planOf(call, record), timeOf(call)))
  call.part(faultPointPart)('ingest-schedule-ended')
  call.count(scheduledTotal, { outcome: 'triggered' })
  return undefined
}

/** An owner without rights ends the schedule; an outage puts the trigger off; anything else leaves out this time alone. */
async function settleRefusal(work: ScheduleWork, refusal: Refusal): Promise<undefined> {
  const { call, object } = work
  if (refusal.code === 'forbidden') throw refusal
  if (!refusal.row.retryable) return await skip(work, { reason: refusal.message, isInFlight: false })
  await change(call, object.id, (record) => putOffTrigger(record, describeFailure(refusal), timeOf(call)))
  call.count(scheduledTotal, { outcome: 'delayed' })
  call.log.warn('ingest.schedule.delayed', { object: object.id, error: refusal.message })
  return undefined
}

async function skip(
  { call, object: { id } }: ScheduleWork,
  terms: { readonly reason: string; readonly isInFlight: boolean },
): Promise<undefined> {
  await change(call, id, (record) => skipTime(record, planOf(call, record), { ...terms, time: timeOf(call) }))
  call.count(scheduledTotal, { outcome: 'skipped' })
  return undefined
}

async function findTriggered(
  { object, scheduler }: ScheduleWork,
  { trigger_id }: Pick<StoredPipelineSchedule, 'trigger_id'>,
): Promise<WorkflowRun | undefined> {
  return trigger_id === undefined ? undefined : await scheduler.findRun(refOf(object), trigger_id)
}

function isActive(run: WorkflowRun | undefined): boolean {
  return run?.state === 'queued' || run?.state === 'running'
}

function refOf({ id, value: { dag_id } }: Doc<ManagedDag>): DagRef {
  return { dag_id, pipeline: id }
}

function timeOf(call: JobCall): StepTime {
  return { now_ms: call.now(), at: call.nowIso() }
}

async function change(
  call: JobCall,
  id: string,
  rule: (record: StoredPipelineSchedule) => StoredPipelineSchedule,
): Promise<StoredPipelineSchedule> {
  const { doc } = await call
    .store(pipelineSchedules)
    .update(id, ({ value }) => ({ next: rule(value), answer: undefined }))
  return doc.value
}

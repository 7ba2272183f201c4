// Rules of a scheduler record: the next time, and how a trigger, a left out time and an end move the record.
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import type { JobFailure } from '../../../kernel/job/job-fields.ts'
import { completeStep, endJob, newJob, releaseJob, waitForEvent, wakeJob } from '../../../kernel/job/rules.ts'
import { findDueTime, type HandledTime, putBack, type ZonedSchedule } from '../../../kernel/schedule/due-time.ts'
import type { StoredPipelineSchedule } from './model.ts'

/** A schedule as it is planned: `tick_ms`, the least time between two runs. */
export type PlannedSchedule = ZonedSchedule & { readonly tick_ms: number }

/** Until a run in flight is looked at again, in milliseconds: longer than a step may last. */
const look_again_ms = 300_000
/** Until the scheduler is tried again, in milliseconds. */
const retry_ms = 60_000

/** The next time. Where clocks are changed, two times may come closer than the tick: the later one is left out. */
export function findNextRun(plan: PlannedSchedule, handled: HandledTime): number | undefined {
  const next = findDueTime(plan, handled)
  if (next === undefined || handled.due === 0 || next - handled.due >= plan.tick_ms) return next
  return findDueTime(plan, { ...handled, due: handled.due + plan.tick_ms - 1 })
}

/** The id of the run for a time: the same for every attempt to trigger it. */
export function triggerIdOf(due_ts: number): string {
  return `schedule__${new Date(due_ts).toISOString().replace(/[-:]|\.\d+/g, '')}`
}

/** What a request decides of a record. */
export type ScheduleFields = Pick<
  StoredPipelineSchedule,
  | ('tenant_id' | 'label' | 'created_by' | 'updated_at' | 'object' | 'dag_id')
  | ('schedule' | 'timezone' | 'until_ts' | 'next_ts')
>

/**
 * The record of a schedule that was set, or of none without a principal. Claims go on, so that a step for the one before
 * writes nothing more; what that may have triggered is still seen as in flight.
 */
export function replaceSchedule(
  former: StoredPipelineSchedule | undefined,
  fields: ScheduleFields,
  principal: StoredPrincipal | undefined,
): StoredPipelineSchedule {
  const { trigger_id, last_scheduled_run, created_at = fields.updated_at, status = 'idle' } = former ?? {}
  const record = {
    ...{ ...fields, created_at, queue: 'scheduler' as const, due_ts: 0 },
    status: status === 'idle' ? status : ('running' as const),
    ...(trigger_id === undefined ? {} : { trigger_id }),
    ...(last_scheduled_run === undefined ? {} : { last_scheduled_run }),
  }
  const { job, job_due_ts } = newJob(principal, findStepTime(record, fields.until_ts))
  const planned = { ...record, job_due_ts, job: { ...job, claims: former?.job.claims ?? 0 } }
  return principal ? planned : endJob(planned, 'cancelled', { status: 'idle' })
}

/** Stores the intent to trigger the run of the time that is due. */
export function beginTrigger(value: StoredPipelineSchedule, at: string): StoredPipelineSchedule {
  const { next_ts = 0 } = value
  return { ...value, status: 'triggering', trigger_id: triggerIdOf(next_ts), triggered_at: at, updated_at: at }
}

export type StepTime = { readonly now_ms: number; readonly at: string }

/** The run was triggered: it stands for every time that has passed. */
export function completeTrigger(
  value: StoredPipelineSchedule,
  plan: PlannedSchedule,
  time: StepTime,
): StoredPipelineSchedule {
  const { fault: _fault, ...rest } = value
  const triggered = { ...rest, status: 'running' as const, last_scheduled_run: value.triggered_at ?? time.at }
  return settle(moveOn(triggered, plan, time), time)
}

/** Leaves out every time that has passed. */
export function skipTime(
  value: StoredPipelineSchedule,
  plan: PlannedSchedule,
  { reason, isInFlight, time }: { readonly reason: string; readonly isInFlight: boolean; readonly time: StepTime },
): StoredPipelineSchedule {
  const skipped = { scheduled_for: new Date(value.next_ts ?? time.now_ms).toISOString(), reason }
  const status = isInFlight ? ('running' as const) : ('idle' as const)
  return settle(moveOn({ ...value, status, skipped }, plan, time), time)
}

/** What was in flight is over, or is looked at again later. */
export function observeRun(value: StoredPipelineSchedule, isInFlight: boolean, time: StepTime): StoredPipelineSchedule {
  return settle({ ...value, status: isInFlight ? 'running' : 'idle' }, time)
}

/** A tick of the scheduler permits the time that is due: undefined for one that it has permitted, or that is not there yet. */
export function permitTime(
  value: StoredPipelineSchedule,
  until_ts: number,
  now_ms: number,
): StoredPipelineSchedule | undefined {
  if (value.next_ts === undefined || value.next_ts > until_ts || isPermitted(value)) return undefined
  return wakeJob({ ...value, ticked_ts: until_ts }, now_ms)
}

/** Whether a tick has permitted the next time. */
export function isPermitted({ next_ts = 0, ticked_ts }: StoredPipelineSchedule): boolean {
  return ticked_ts !== undefined && ticked_ts >= next_ts
}

/** The time is due, and waits for a tick; a run in flight is looked at meanwhile. */
export function awaitTick(value: StoredPipelineSchedule, isInFlight: boolean, { now_ms }: StepTime) {
  const moved = completeStep({ ...value, status: isInFlight ? ('running' as const) : ('idle' as const) })
  // It came during the step.
  if (isPermitted(value)) return releaseJob(moved, now_ms)
  return isInFlight ? releaseJob(moved, now_ms + look_again_ms) : waitForEvent(moved, now_ms)
}

/** The scheduler does not answer: the trigger stays stored, and is reconciled with the runs before the next attempt. */
export function putOffTrigger(
  value: StoredPipelineSchedule,
  { code, reason }: JobFailure,
  { now_ms, at }: StepTime,
): StoredPipelineSchedule {
  return releaseJob(completeStep({ ...value, fault: { code, reason, at } }), now_ms + retry_ms)
}

/** Ends the schedule for a reason that lasts, such as an owner without rights: nothing runs until it is set again. */
export function failSchedule(value: StoredPipelineSchedule, failure: JobFailure, at: string): StoredPipelineSchedule {
  const { code, reason } = failure
  const fields = { status: 'idle' as const, next_ts: undefined, fault: { code, reason, at }, updated_at: at }
  return endJob(value, 'failed', fields, failure)
}

/** Plans again by a clock that was put back: undefined while the clock is not behind. */
export function replanBehind(
  value: StoredPipelineSchedule,
  plan: PlannedSchedule,
  { now_ms, at }: StepTime,
): StoredPipelineSchedule | undefined {
  if (value.until_ts <= now_ms || value.next_ts === undefined || value.job.state === 'running') return undefined
  const { due, until } = putBack({ due: value.due_ts, until: value.until_ts }, now_ms)
  const next_ts = findNextRun(plan, { due, until })
  // A tick of the time that is gone permits nothing.
  return settle({ ...value, next_ts, until_ts: until, ticked_ts: undefined, updated_at: at }, { now_ms, at })
}

function moveOn(
  value: StoredPipelineSchedule,
  plan: PlannedSchedule,
  { now_ms, at }: StepTime,
): StoredPipelineSchedule {
  const due = value.next_ts ?? now_ms
  const next_ts = findNextRun(plan, { due, until: now_ms })
  return { ...value, due_ts: due, until_ts: now_ms, next_ts, updated_at: at }
}

function settle(value: StoredPipelineSchedule, { now_ms }: StepTime): StoredPipelineSchedule {
  const due_ts = findStepTime(value, now_ms)
  const moved = completeStep(value)
  return due_ts === undefined ? waitForEvent(moved, now_ms) : releaseJob(moved, due_ts)
}

/** When the record is next worked on: at its next time, and before that to see the end of a run. */
function findStepTime({ next_ts, status }: Pick<StoredPipelineSchedule, 'next_ts' | 'status'>, now_ms: number) {
  if (status !== 'running') return next_ts
  return Math.min(next_ts ?? Number.POSITIVE_INFINITY, now_ms + look_again_ms)
}

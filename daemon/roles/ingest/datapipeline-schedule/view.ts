// Shows the schedule of a pipeline.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type PipelineScheduleView, pipelineSchedules, type StoredPipelineSchedule } from './model.ts'

/** The fields that a pipeline shows. */
export type ShownSchedule = Pick<
  PipelineScheduleView,
  'schedule' | 'timezone' | 'next_scheduled_run' | 'last_scheduled_run' | 'schedule_fault'
>

/** Undefined: a pipeline whose schedule nobody ever set. */
export function showScheduleFields(value: StoredPipelineSchedule | undefined): ShownSchedule {
  const { schedule = null, timezone = 'UTC', next_ts, last_scheduled_run = null, fault } = value ?? {}
  const next_scheduled_run = next_ts === undefined ? null : new Date(next_ts).toISOString()
  const shown = { schedule, timezone, next_scheduled_run, last_scheduled_run }
  return fault ? { ...shown, schedule_fault: fault } : shown
}

export function showSchedule({ id, value }: Doc<StoredPipelineSchedule>): PipelineScheduleView {
  const { dag_id, status, trigger_id, skipped, job } = value
  return {
    ...{ uid: id, dag_id, ...showScheduleFields(value), status, owner: job.principal?.subject ?? null },
    ...(trigger_id === undefined ? {} : { trigger_id }),
    ...(skipped ? { skipped } : {}),
    ...showDelay(value),
  }
}

export async function showScheduleOf(call: Call, uid: string, dag_id: string): Promise<PipelineScheduleView> {
  const doc = await call.store(pipelineSchedules).find(uid)
  return doc ? showSchedule(doc) : { uid, dag_id, ...showScheduleFields(undefined), status: 'idle', owner: null }
}

// Refuses a schedule of an effect that cannot be stored, or that stands beside a clean-up after one run.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkSchedule, type ScheduleChange } from '../datapipeline-schedule/plan-schedule.ts'
import type { StoredEffect } from './model.ts'

export function refuseSchedule(
  call: Call,
  change: ScheduleChange,
  { delete_on_success }: Pick<StoredEffect, 'delete_on_success'>,
): Refusal | undefined {
  const hasSchedule = (change.schedule?.trim() ?? '') !== ''
  if (!hasSchedule || !delete_on_success) return checkSchedule(call, change)
  return refuse('invalid', 'delete_on_success is for an effect that runs once, which has no schedule: leave one out', [
    { path: 'delete_on_success', message: 'goes without schedule' },
  ])
}

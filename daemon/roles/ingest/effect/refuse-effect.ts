// Refuses a schedule of an effect that cannot be read, or that stands beside a clean-up after one run.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { scheduleParserPart } from '../parts.ts'
import type { StoredEffect } from './model.ts'

export function refuseSchedule(
  call: Call,
  { schedule, delete_on_success }: Pick<StoredEffect, 'schedule' | 'delete_on_success'>,
): Refusal | undefined {
  if (schedule === null) return undefined
  if (delete_on_success)
    return refuse(
      'invalid',
      'delete_on_success is for an effect that runs once, which has no schedule: leave one out',
      [{ path: 'delete_on_success', message: 'goes without schedule' }],
    )
  const parsed = call.part(scheduleParserPart)(schedule)
  return isRefusal(parsed)
    ? refuse('invalid', parsed.message, [{ path: 'schedule', message: 'is not a schedule' }])
    : undefined
}

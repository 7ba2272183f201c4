// Sets the schedule of a pipeline or an effect: checks it, stores its owner, and plans the next run.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Schedule } from '../../../kernel/schedule/schedule.ts'
import { findTickProblem } from '../../../kernel/schedule/shortest-interval.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { kindOfObject } from '../managed-dag/collections.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { faultPointPart, scheduleParserPart } from '../parts.ts'
import { settings } from '../settings.ts'
import { pipelineSchedules, type StoredPipelineSchedule } from './model.ts'
import { findNextRun, type PlannedSchedule, replaceSchedule, type ScheduleFields } from './rules.ts'

const minute_ms = 60_000

/** As requests name it: null or empty for none, absent for what is set. */
export type ScheduleChange = {
  readonly schedule?: string | null | undefined
  readonly timezone?: string | undefined
}

/** Refuses `invalid` for an expression that is not a schedule, or recurs more often than the tick. */
function readSchedule(call: Call, expression: string): Schedule | Refusal {
  const parsed = call.part(scheduleParserPart)(expression)
  const problem = isRefusal(parsed) ? parsed : findTickProblem(parsed, call.settings(settings).scheduler_tick_minutes)
  if (problem) return refuse(problem.code, problem.message, [{ path: 'schedule', message: problem.message }])
  return parsed
}

/** The schedule of a record. Throws for one that this release does not read any more. */
export function planOf(
  call: Call,
  { schedule = '', timezone }: Pick<StoredPipelineSchedule, 'schedule' | 'timezone'>,
): PlannedSchedule {
  const parsed = call.part(scheduleParserPart)(schedule)
  if (isRefusal(parsed)) throw parsed
  return { schedule: parsed, zone: timezone, tick_ms: call.settings(settings).scheduler_tick_minutes * minute_ms }
}

/** Refuses a schedule that could not be stored, before anything else of the request is. */
export function checkSchedule(call: Call, { schedule }: ScheduleChange): Refusal | undefined {
  const expression = schedule?.trim() ?? ''
  if (expression === '') return undefined
  if (!permits(call.caller.permissions, 'ingest:run'))
    return refuse('forbidden', 'scheduled runs act for the owner of the schedule, who needs the permission ingest:run')
  const parsed = readSchedule(call, expression)
  return isRefusal(parsed) ? parsed : undefined
}

/**
 * Stores the schedule with the caller as its owner, also where nothing changes but the owner. A run in flight goes on, and
 * no other is triggered beside it.
 */
export async function setSchedule(
  call: Call,
  { id, value: object }: Doc<ManagedDag>,
  change: ScheduleChange,
): Promise<Doc<StoredPipelineSchedule> | Refusal> {
  const store = call.store(pipelineSchedules)
  const before = (await store.find(id))?.value
  const schedule = (change.schedule === undefined ? before?.schedule : change.schedule?.trim()) || undefined
  const timezone = change.timezone ?? before?.timezone ?? 'UTC'
  const refused = checkSchedule(call, { schedule })
  if (refused) return refused
  const principal =
    schedule === undefined ? undefined : await call.delegation().store({ collection: pipelineSchedules.name, id })
  if (isRefusal(principal)) return principal
  const { tenant_id, label, dag_id } = object
  const fields: ScheduleFields = {
    ...{ tenant_id, label, created_by: call.caller.subject, updated_at: call.nowIso(), timezone },
    ...{ object: kindOfObject(id), dag_id },
    ...planNext(call, { schedule, timezone }),
  }
  const audit = [call.audited(call.address, id, { schedule: schedule ?? null, timezone }, label)]
  const created = await store.create(id, replaceSchedule(undefined, fields, principal), audit)
  const replace = async () => {
    const rule = ({ value }: Doc<StoredPipelineSchedule>) => {
      return { next: replaceSchedule(value, fields, principal), answer: undefined, audit }
    }
    return (await store.update(id, rule)).doc
  }
  const doc = created === 'exists' ? await replace() : created
  call.part(faultPointPart)('ingest-schedule-set')
  announceJob(call, pipelineSchedules, doc)
  return doc
}

function planNext(
  call: Call,
  { schedule, timezone }: Pick<StoredPipelineSchedule, 'schedule' | 'timezone'>,
): Pick<ScheduleFields, 'schedule' | 'next_ts' | 'until_ts'> {
  const until_ts = call.now()
  if (schedule === undefined) return { until_ts }
  return { schedule, until_ts, next_ts: findNextRun(planOf(call, { schedule, timezone }), { due: 0, until: until_ts }) }
}

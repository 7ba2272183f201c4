// The scheduler record of a pipeline or an effect: its schedule, what it has triggered, and the owner it acts for. The record is a job.
import * as z from 'zod'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { timeZone } from '../../../kernel/schedule/time-zone.ts'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { instant, provenanceFields, shortText, uid } from '../fields.ts'

/** `triggering`: a trigger is stored, and may have reached the workflow scheduler; `running`: it has, and the run is in flight. */
const scheduleStatus = z.enum(['idle', 'triggering', 'running'])

const scheduleExpression = z.string().max(128)

const scheduleFault = z.strictObject({ code: z.string().max(64), reason: z.string().max(4_096), at: instant })
const skippedTime = z.strictObject({ scheduled_for: instant, reason: z.string().max(4_096) })

/** Fields of requests; without a default, so that a change leaves out what stays. */
export const scheduleInputFields = {
  schedule: scheduleExpression
    .nullable()
    .optional()
    .meta({ description: 'Cron expression, @hourly, @daily, @weekly or @monthly; null or empty: none' }),
  timezone: timeZone.optional().meta({ description: 'Time zone of the schedule; default: UTC' }),
}

const storedPipelineSchedule = z.strictObject({
  ...provenanceFields,
  ...jobFields,
  /** Of what it triggers runs: lists of pipelines leave out effects. */
  object: z.enum(['datapipeline', 'effect']),
  dag_id: dagId,
  /** One value for all, by which records are worked on one after the other. */
  queue: z.literal('scheduler'),
  /** Absent: runs are not scheduled. */
  schedule: scheduleExpression.optional(),
  timezone: z.string().max(64),
  status: scheduleStatus,
  /** The dag_run_id of the newest trigger, stored before it. */
  trigger_id: z.string().max(250).optional(),
  triggered_at: instant.optional(),
  last_scheduled_run: instant.optional(),
  /** Epoch milliseconds of the next time; also while that is due. */
  next_ts: z.number().optional(),
  /** As `HandledTime`: the time that the newest trigger was for, and the clock by which the next one was chosen. */
  due_ts: z.number(),
  until_ts: z.number(),
  /** Times up to this one were permitted by a tick, where the scheduler has the clock. */
  ticked_ts: z.number().optional(),
  skipped: skippedTime.optional(),
  fault: scheduleFault.optional(),
})
export type StoredPipelineSchedule = z.infer<typeof storedPipelineSchedule>

export const pipelineSchedules = collection({
  name: 'pipeline-schedule',
  schema: storedPipelineSchedule,
  indexes: ['object', 'queue', 'dag_id', 'status', 'schedule', 'next_ts', 'until_ts', ...job_indexes],
  documented: {
    alias: 'pipeline-scheduler',
    fields: { uid: 'id', dag_id: 'dag_id', status: 'status', schedule: 'schedule' },
  },
  // If-Match of a request is about the object.
  revision: () => undefined,
})

/** The fields of a pipeline or an effect that its schedule decides. */
export const scheduleViewFields = {
  schedule: scheduleExpression.nullable().meta({ description: 'Null: runs are not scheduled' }),
  timezone: z.string().meta({ description: 'Time zone of the schedule' }),
  next_scheduled_run: instant.nullable().meta({ description: 'Next time at which a scheduled run is triggered' }),
  last_scheduled_run: instant.nullable().meta({ description: 'When the newest scheduled run was triggered' }),
  schedule_fault: scheduleFault.optional().meta({ description: 'Why no scheduled run is triggered' }),
}

export const pipelineScheduleView = z
  .strictObject({
    uid,
    dag_id: dagId,
    ...scheduleViewFields,
    status: scheduleStatus,
    owner: shortText.nullable().meta({ description: 'The principal that scheduled runs act for' }),
    trigger_id: z.string().optional().meta({ description: 'dag_run_id of the newest scheduled run' }),
    skipped: skippedTime.optional().meta({ description: 'The newest time at which no run was triggered' }),
    ...delayFields,
  })
  .meta({ id: 'DataPipelineSchedule' })
export type PipelineScheduleView = z.infer<typeof pipelineScheduleView>

// Shows in the answers of a document that is a job why its work is put off.
import * as z from 'zod'
import { type JobFields, jobFailure } from './job-fields.ts'
import { isJobOver } from './rules.ts'

const jobDelay = z
  .strictObject({
    failure: jobFailure.meta({ description: 'Reason of the newest failure' }),
    failures: z.int().min(1).meta({ description: 'Failures in a row' }),
    next_attempt_at: z.iso.datetime().optional().meta({ description: 'Absent while an attempt runs' }),
  })
  .meta({ id: 'JobDelay' })

/** Spread into the view of a document. */
export const delayFields = {
  delay: jobDelay.optional().meta({ description: 'Why the work is put off; absent once a step has succeeded' }),
}

/** The fields of `delayFields`; none for work that is not put off. */
export function showDelay(value: JobFields): { delay?: z.output<typeof jobDelay> } {
  const { failure, failures, state } = value.job
  if (failures === 0 || !failure || isJobOver(value)) return {}
  const next_ts = state === 'running' ? undefined : value.job_due_ts
  const next = next_ts === undefined ? {} : { next_attempt_at: new Date(next_ts).toISOString() }
  return { delay: { failure, failures, ...next } }
}

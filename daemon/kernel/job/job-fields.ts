// The fields by which a document is a job: its principal, its state, and the holder that works on it.
import * as z from 'zod'
import { storedPrincipal } from '../identity/delegation.ts'

const count = z.int().min(0)

const jobState = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'])
export type JobState = z.infer<typeof jobState>

const jobFailure = z.strictObject({ code: z.string().max(64), reason: z.string().max(4_096) })
export type JobFailure = z.infer<typeof jobFailure>

const jobExecution = z.strictObject({
  state: jobState,
  /** Absent: work that the site does by itself, such as what its profile schedules. */
  principal: storedPrincipal.optional(),
  /** Completed steps. Never falls. */
  step: count,
  /** Starts of the current step; reset by every end but a crash. */
  attempts: count,
  /** Retryable failures in a row. */
  failures: count,
  /** Claims so far: the number of the newest holder. A write under a lower number is refused. */
  claims: count,
  /** An event arrived while a step ran: the job does not wait before it has looked again. */
  is_woken: z.boolean().optional(),
  /** Reason of the newest failure. */
  failure: jobFailure.optional(),
})

/**
 * Fields of a document that is a job. `job_due_ts`, an index: epoch milliseconds from which a process may claim it; a
 * running job stays due, and its lease keeps others from it. Absent: nothing to do until an event.
 */
export const jobFields = { job: jobExecution, job_due_ts: z.number().optional() }

export type JobFields = {
  readonly job: z.infer<typeof jobExecution>
  readonly job_due_ts?: number | undefined
}

/** The indexes that a collection of jobs has. */
export const job_indexes = ['job_due_ts', 'created_at', 'created_by'] as const

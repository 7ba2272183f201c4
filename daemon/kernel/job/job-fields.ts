// The fields by which a document is a job: its principal, its state, and the holder that works on it.
import * as z from 'zod'
import type { Refusal } from '../error/errors.ts'
import { storedPrincipal } from '../identity/delegation.ts'
import { shortenText } from '../text/shorten-text.ts'

const count = z.int().min(0)

export const jobState = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'])
export type JobState = z.infer<typeof jobState>

const max_reason_length = 4_096
export const jobFailure = z.strictObject({ code: z.string().max(64), reason: z.string().max(max_reason_length) })
export type JobFailure = z.infer<typeof jobFailure>

/** The failure as a document and an audit record can hold it. */
export function describeFailure({ code, message }: Pick<Refusal, 'code' | 'message'>): JobFailure {
  return { code, reason: shortenText(message, max_reason_length) }
}

/** Amount of work, in any unit of the kind; `from_`: where its present holder began, for its pace. */
const jobProgress = z.strictObject({ done: count, total: count, from_done: count, from_ts: z.number() })
export type JobProgress = z.infer<typeof jobProgress>

const jobExecution = z.strictObject({
  state: jobState,
  /**
   * Absent: work that the site does by itself, such as what its profile schedules. The grant goes with the end of the job:
   * nobody acts by it any more.
   */
  principal: storedPrincipal.partial({ grant: true }).optional(),
  /** Completed steps. Never falls. */
  step: count,
  /** Claims that began the current step and did not end it: the running one, and those that crashed. */
  starts: z.array(count),
  /** Retryable failures in a row. */
  failures: count,
  /** Claims so far: the number of the newest holder. A write under a lower number is refused. */
  claims: count,
  /** An event arrived while a step ran: the job does not wait before it has looked again. */
  is_woken: z.boolean().optional(),
  /** Reason of the newest failure. */
  failure: jobFailure.optional(),
  progress: jobProgress.optional(),
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

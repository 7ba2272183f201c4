// A kind of job, as a role declares it: its documents, the work of a step, and how a job ends that may not go on.
import type { Refusal } from '../error/errors.ts'
import type { Permission } from '../identity/identity.ts'
import type { Call } from '../operation/call.ts'
import type { Collection, Doc, StoredFields } from '../store/store.ts'
import type { JobFailure, JobFields } from './job-fields.ts'
import type { RetryWaits } from './rules.ts'

/** A document that is a job. `created_by`: the principal whose turn it is among others of the tenant. */
export type JobDocument = StoredFields & JobFields & { readonly created_by: string; readonly created_at: string }

/**
 * The call of a step. Its caller is the stored principal as it is now; without one, the service of the role within the
 * tenant of the job. Its store refuses every write once the claim is lost.
 */
export type JobCall = Call & {
  /** The service of the role within the tenant: for what is derived from documents that the principal may not see. */
  readonly service: Call
}

export type JobLimits = {
  /** Jobs that a process runs at a time, and those of one tenant among them. */
  readonly at_once: number
  readonly at_once_per_tenant: number
  /** Longest time of one step. */
  readonly step_ms: number
}

export type JobEnd = { readonly failure: JobFailure; readonly at: string; readonly now_ms: number }

export type JobKind<T extends JobDocument> = {
  readonly name: string
  /** Has the indexes of `job_indexes`. */
  readonly collection: Collection<T>
  /** The permission that the principal must still have at each step. */
  readonly allow: Permission
  /** Jobs of the kind may have no principal: work that the site does by itself. Absent: such a job fails. */
  readonly isSiteWork?: true
  readonly limits: (call: Pick<Call, 'settings'>) => JobLimits
  readonly waits: RetryWaits
  /**
   * Performs the next step and moves the job by the rules of `rules.ts`: to its next step, a wait or its end. A step may
   * run again after a crash. A returned or thrown refusal that a retry may cure puts the step off; any other error fails
   * the job.
   */
  readonly step: (call: JobCall, doc: Doc<T>) => Promise<Refusal | undefined>
  /** Fails the document: a pure rule, which ends the job by `endJob`. */
  readonly fail: (value: T, end: JobEnd) => T
  /** Runs after a job ended without a step, so that its traces can be removed. */
  readonly onFailed?: (call: Call, doc: Doc<T>) => void
}

// biome-ignore lint/suspicious/noExplicitAny: kinds of different documents in one list
export type AnyJobKind = JobKind<any>

/** Declares a kind of job; exists for the types. */
export function jobKind<T extends JobDocument>(kind: JobKind<T>): JobKind<T> {
  return kind
}

/** Topic: a job became due, or one has ended. */
export const jobs_topic = 'jobs'
/** The worker of a role that runs its jobs. */
export const jobs_worker = 'jobs'

/** Topic of one job: it changed. */
export function jobTopic(collection: { readonly name: string }, id: string): string {
  return `${jobs_topic}/${collection.name}/${id}`
}

/** Announces a job that a call has stored, woken or ended. */
export function announceJob(
  call: Pick<Call, 'announce' | 'wake'>,
  collection: { readonly name: string },
  { id, value }: Doc<JobFields>,
): void {
  if (value.job_due_ts !== undefined) call.wake(jobs_worker)
  call.announce(jobs_topic)
  call.announce(jobTopic(collection, id))
}

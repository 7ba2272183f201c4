// A kind of job, as a role declares it: its documents, the work of a step, and how a job ends that may not go on.
import type { Refusal } from '../error/errors.ts'
import type { Permission } from '../identity/identity.ts'
import type { Call } from '../operation/call.ts'
import type { WorkOwner } from '../role/fair-turns.ts'
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
}

export type JobEnd = { readonly failure: JobFailure; readonly at: string; readonly now_ms: number }

/** What the operations of every role for jobs need of a kind. */
export type JobOperations<T extends JobDocument> = {
  /** The permission to see jobs. To cancel one takes that of the kind. */
  readonly read: Permission
  /** Cancels the document: a pure rule, which ends the job by `endJob` with the fields that say so. */
  readonly cancel: (value: T, end: Omit<JobEnd, 'failure'>) => T
}

export type JobKind<T extends JobDocument> = {
  readonly name: string
  /** Has the indexes of `job_indexes`. */
  readonly collection: Collection<T>
  /** The permission that the principal must still have at each step. */
  readonly allow: Permission
  /** In place of `allow`, by the request that stored the job: work that another permission let begin. */
  readonly allowOf?: (value: T) => Permission
  /**
   * Checks that a job without principal is work that the site does by itself, by what the site decides now: performed by
   * the service of the role. The refusal fails the job. Absent: such a job fails.
   */
  readonly checkSiteWork?: (call: Call, doc: Doc<T>) => Refusal | undefined | Promise<Refusal | undefined>
  readonly limits: (call: Pick<Call, 'settings'>) => JobLimits
  /** Longest time of a step, by the document as it is before the step: a positive number of milliseconds. */
  readonly stepLimit_ms: (call: Pick<Call, 'settings'>, value: T) => number
  /**
   * An index: jobs with one value of it run one after the other, in any process, and take turns as one owner. Absent: any
   * jobs of the collection run beside each other, in turns by `created_by`.
   */
  readonly serial_by?: Extract<keyof T, string>
  readonly waits: RetryWaits
  /**
   * Checks a limit over all tenants before each step, by the service of the role. Its refusal ends the step as one of the
   * step does.
   */
  readonly admit?: (call: Call, doc: Doc<T>) => Promise<Refusal | undefined>
  /**
   * Performs the next step and moves the job by the rules of `rules.ts`: to its next step, a wait or its end. A step may
   * run again after a crash. A returned or thrown refusal that a retry may cure puts the step off, for days at most; any other
   * error fails the job.
   */
  readonly step: (call: JobCall, doc: Doc<T>) => Promise<Refusal | undefined>
  /** Fails the document: a pure rule, which ends the job by `endJob` with the fields that say so, or leaves its clean-up to the site by `leaveToSite`. */
  readonly fail: (value: T, end: JobEnd) => T
  /** Serves its jobs at `job/<name>` of the role; absent where the documents have operations of their own. */
  readonly operations?: JobOperations<T>
  /** Runs after a job ended without a step, so that its traces can be removed. */
  readonly onFailed?: (call: Call, doc: Doc<T>) => void
}

// biome-ignore lint/suspicious/noExplicitAny: kinds of different documents in one list
export type AnyJobKind = JobKind<any>

/** Declares a kind of job; exists for the types. */
export function jobKind<T extends JobDocument>(kind: JobKind<T>): JobKind<T> {
  return kind
}

/** The lease under which a process runs the job. */
export function leaseKeyOf({ collection: { name }, serial_by }: AnyJobKind, { id, value }: Doc<JobDocument>): string {
  return serial_by === undefined ? `${name}/${id}` : `${name}/${serial_by}/${fieldOf(value, serial_by)}`
}

/** Whose turn the job is among others of its kind. */
export function turnOwnerOf({ serial_by = 'created_by' }: AnyJobKind, { value }: Doc<JobDocument>): WorkOwner {
  return { tenant_id: value.tenant_id, subject: fieldOf(value, serial_by) }
}

function fieldOf(value: JobDocument, name: string): string {
  return String((value as Readonly<Record<string, unknown>>)[name])
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

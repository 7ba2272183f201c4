// Pure rules of a job: claims, steps, waits, retries and ends. The document keeps its other fields.
import type { StoredPrincipal } from '../identity/delegation.ts'
import type { JobFailure, JobFields, JobProgress, JobState } from './job-fields.ts'

/** A claim of a job. A process may write the job only while its claim is the newest. */
export type JobClaim = { readonly claims: number }

/** Starts of a step that may end in a crash; the next one fails the job. */
export const max_crashes = 3

/** Longest waits in a row after which a step has failed too often: a refusal that no retry cures ends its job. */
const max_failing_ms = 7 * 86_400_000

/** Waits between retries: exponential from `first_ms` to `longest_ms`, each reduced by up to half at random. */
export type RetryWaits = { readonly first_ms: number; readonly longest_ms: number }

/** Without a time, the job waits for an event. */
export function newJob(principal: StoredPrincipal | undefined, due_ts: number | undefined): JobFields {
  const state = due_ts === undefined ? 'waiting' : 'queued'
  const counts = { step: 0, starts: [], failures: 0, claims: 0 }
  return { job: { state, ...counts, ...(principal ? { principal } : {}) }, job_due_ts: due_ts }
}

/** Whether the job waits for an event, with nothing to do until then. */
export function isJobIdle({ job: { state }, job_due_ts }: JobFields): boolean {
  return state === 'waiting' && job_due_ts === undefined
}

export function isJobOver({ job: { state } }: JobFields): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

export function isJobDue({ job_due_ts }: JobFields, now_ms: number): boolean {
  return job_due_ts !== undefined && job_due_ts <= now_ms
}

/**
 * Claims a due job for a process that has its lease, and so takes it from a former holder. `crashed`: every permitted
 * start of the step has crashed. Undefined: the job is not due.
 */
export function claimJob<T extends JobFields>(value: T, now_ms: number): T | 'crashed' | undefined {
  if (isJobOver(value) || !isJobDue(value, now_ms)) return undefined
  const { starts, claims, progress } = value.job
  if (starts.length >= max_crashes) return 'crashed'
  const pace = progress ? { progress: { ...progress, from_done: progress.done, from_ts: now_ms } } : {}
  return setJob(value, { state: 'running', starts: [...starts, claims + 1], claims: claims + 1, ...pace }, now_ms)
}

/** Whether the claim is the newest and its job runs: every write of a step requires it. */
export function isClaimValid({ job: { state, claims } }: JobFields, claim: JobClaim): boolean {
  return state === 'running' && claims === claim.claims
}

/** Completes the current step; the next begins under the same claim. As each rule here, it leaves a job that is over as it is. */
export function completeStep<T extends JobFields>(value: T): T {
  if (isJobOver(value)) return value
  const { failure: _failure, ...job } = value.job
  return { ...value, job: { ...job, step: job.step + 1, starts: [job.claims], failures: 0 } }
}

/** Ends the claim until an event wakes the job; an event that arrived meanwhile has woken it already. */
export function waitForEvent<T extends JobFields>(value: T, now_ms: number): T {
  if (isJobOver(value)) return value
  const { is_woken, ...job } = value.job
  const rested = { ...value, job: { ...job, starts: [], failures: 0 } }
  return is_woken ? setJob(rested, { state: 'queued' }, now_ms) : setJob(rested, { state: 'waiting' }, undefined)
}

/** Wakes a waiting job, for `principal` from now on where it is given. A job that is over stays as it is. */
export function wakeJob<T extends JobFields>(value: T, now_ms: number, principal?: StoredPrincipal): T {
  if (isJobOver(value)) return value
  const woken = principal ? { ...value, job: { ...value.job, principal } } : value
  if (value.job.state === 'running') return { ...woken, job: { ...woken.job, is_woken: true } }
  return setJob(woken, { state: 'queued' }, now_ms)
}

/** Gives a claimed job back, as at an orderly stop: no crash, and due at once. */
export function releaseJob<T extends JobFields>(value: T, now_ms: number): T {
  if (isJobOver(value)) return value
  return setJob(value, { state: 'queued', starts: [] }, now_ms)
}

/**
 * Takes back the start of a process that lost the job, or its store, without a crash; gives the job back if nobody has
 * claimed it since. The same value for a start that has ended.
 */
export function withdrawStart<T extends JobFields>(value: T, claim: JobClaim, now_ms: number): T {
  const { starts } = value.job
  if (!starts.includes(claim.claims)) return value
  const withdrawn = { ...value, job: { ...value.job, starts: starts.filter((start) => start !== claim.claims) } }
  return isClaimValid(value, claim) ? setJob(withdrawn, { state: 'queued' }, now_ms) : withdrawn
}

/**
 * Puts a failed step off. `chance`: a uniform random number from 0 to 1, which spreads the retries of many jobs. `exhausted`:
 * every permitted retry has failed. Retries are counted, since a site may be down for longer than it retries.
 */
export function retryLater<T extends JobFields>(
  value: T,
  failure: JobFailure,
  { now_ms, waits, chance }: { readonly now_ms: number; readonly waits: RetryWaits; readonly chance: number },
): T | 'exhausted' {
  if (isJobOver(value)) return value
  const { failures } = value.job
  if (failures >= max_failing_ms / waits.longest_ms) return 'exhausted'
  const full_ms = Math.min(waits.longest_ms, waits.first_ms * 2 ** Math.min(failures, 30))
  const due_ts = now_ms + Math.round(full_ms * (1 - chance / 2))
  const { is_woken: _woken, ...job } = value.job
  return setJob({ ...value, job }, { state: 'waiting', starts: [], failures: failures + 1, failure }, due_ts)
}

/** Records how much of the work is done, which never falls: a step that runs again repeats work that was counted. */
export function recordProgress<T extends JobFields>(
  value: T,
  { done, total }: Pick<JobProgress, 'done' | 'total'>,
  now_ms: number,
): T {
  if (isJobOver(value)) return value
  const { progress = { done, total, from_done: done, from_ts: now_ms } } = value.job
  const furthest = Math.max(done, progress.done)
  const next = { ...progress, done: furthest, total: Math.max(total, furthest) }
  return { ...value, job: { ...value.job, progress: next } }
}

/** Seconds that the rest takes at the pace of the present holder; undefined before it has done any. */
export function estimateRemaining_s(
  { done, total, from_done, from_ts }: JobProgress,
  now_ms: number,
): number | undefined {
  if (done <= from_done || now_ms <= from_ts) return done >= total ? 0 : undefined
  return Math.ceil(((total - done) * (now_ms - from_ts)) / (done - from_done) / 1_000)
}

/**
 * Ends a job, with the fields of its document that say so. The same value for one that is over: the first end counts, and
 * a late cancellation overwrites nothing of it.
 */
export function endJob<T extends JobFields>(
  value: T,
  state: Extract<JobState, 'completed' | 'failed' | 'cancelled'>,
  fields: NoInfer<Omit<Partial<T>, keyof JobFields>>,
  failure?: JobFailure,
): T {
  if (isJobOver(value)) return value
  const { is_woken: _woken, failure: _failure, ...job } = dropGrant(value.job)
  const step = state === 'completed' ? job.step + 1 : job.step
  const ended = { ...value, ...fields, job: { ...job, step, starts: [], failures: 0 } }
  return setJob(ended, failure ? { state, failure } : { state }, undefined)
}

/**
 * Leaves what remains of a job, such as its clean-up, to the site: it needs no rights of the principal, and a holder loses
 * its claim. The document decides whether anything remains: the only rule that begins anew a job that is over.
 */
export function leaveToSite<T extends JobFields>(value: T, now_ms: number): T {
  const { principal: _principal, is_woken: _woken, failure: _failure, ...job } = value.job
  const left = { ...value, job: { ...job, step: job.step + 1, starts: [], failures: 0 } }
  return setJob(left, { state: 'queued' }, now_ms)
}

/** A stored grant is a credential, and nobody acts for a job that is over. */
function dropGrant({ principal, ...job }: JobFields['job']): JobFields['job'] {
  if (!principal) return job
  const { grant: _grant, ...person } = principal
  return { ...job, principal: person }
}

function setJob<T extends JobFields>(value: T, changes: Partial<JobFields['job']>, job_due_ts: number | undefined): T {
  return { ...value, job: { ...value.job, ...changes }, job_due_ts }
}

// Rules of the watch of a run: when it is looked at, and what ends the watch.
import type { JobFailure } from '../../../kernel/job/job-fields.ts'
import { completeStep, endJob, releaseJob, wakeJob } from '../../../kernel/job/rules.ts'
import type { WorkflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { StoredRunWatch } from './model.ts'

/** Between two looks, in milliseconds. */
export const first_look_ms = 10_000
const longest_look_ms = 300_000
/** A run that is not there for this long never came, or was deleted: a DAG whose file is read again may be missing for a while. */
const longest_absence_ms = 300_000

export type LookTime = { readonly now_ms: number; readonly at: string }

/** Looks are ever more seldom, as the run goes on. */
function findNextLook(triggered_at: string, now_ms: number): number {
  const age_ms = now_ms - Date.parse(triggered_at)
  return now_ms + Math.min(longest_look_ms, Math.max(first_look_ms, Math.round(age_ms / 4)))
}

/** Another attempt to trigger the run, or another run of a name that was free again: claims go on. */
export function watchAgain(former: StoredRunWatch, next: StoredRunWatch): StoredRunWatch {
  const job = { ...next.job, claims: former.job.claims }
  return former.over ? { ...next, job } : { ...next, created_at: former.created_at, job }
}

/** The run is not over. */
export function lookAgain(
  { missing_since: _missing, ...watch }: StoredRunWatch,
  seen: WorkflowRunState | undefined,
  { now_ms, at }: LookTime,
): StoredRunWatch {
  const next = { ...watch, ...(seen && { seen }), updated_at: at }
  return releaseJob(completeStep(next), findNextLook(watch.triggered_at, now_ms))
}

/** The scheduler does not show the run: the watch ends once that lasts. */
export function missRun(watch: StoredRunWatch, time: LookTime): StoredRunWatch {
  return isLongMissing(watch, time) ? endWatch(watch, 'cancelled', time.at) : missForNow(watch, time)
}

/** Whether the run was not shown for as long as that means something. */
export function isLongMissing(watch: StoredRunWatch, time: LookTime): boolean {
  return time.now_ms - Date.parse(missingSince(watch, time)) >= longest_absence_ms
}

export function missForNow(watch: StoredRunWatch, time: LookTime): StoredRunWatch {
  const { now_ms, at } = time
  const missing_since = missingSince(watch, time)
  const next = { ...watch, missing_since, updated_at: at }
  return releaseJob(completeStep(next), findNextLook(watch.triggered_at, now_ms))
}

export function endWatch(
  watch: StoredRunWatch,
  state: 'completed' | 'cancelled' | 'failed',
  at: string,
  failure?: JobFailure,
): StoredRunWatch {
  return endJob(watch, state, { over: 1, updated_at: at }, failure)
}

/** A step that took too long is repeated; for any other reason nobody can look any more. */
export function failWatch(watch: StoredRunWatch, failure: JobFailure, time: LookTime): StoredRunWatch {
  return failure.code === 'timeout' ? lookAgain(watch, undefined, time) : endWatch(watch, 'failed', time.at, failure)
}

/** A person stops the run. */
export function markStopped(watch: StoredRunWatch, at: string): StoredRunWatch {
  return { ...watch, is_stopped: true, updated_at: at }
}

/** The scheduler has refused that. */
export function unmarkStopped({ is_stopped: _stopped, ...watch }: StoredRunWatch, at: string): StoredRunWatch {
  return { ...watch, updated_at: at }
}

/** Something has changed the run. */
export function lookNow(watch: StoredRunWatch, now_ms: number): StoredRunWatch {
  return wakeJob(watch, now_ms)
}

/** A clock that was set back: the absence is measured from now. */
function missingSince({ missing_since }: StoredRunWatch, { now_ms, at }: LookTime): string {
  return missing_since === undefined || Date.parse(missing_since) > now_ms ? at : missing_since
}

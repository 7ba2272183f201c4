// Bounds a step: ends it at its time limit or once its principal was revoked, and gives up one that ignores its abort.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import type { Doc } from '../store/store.ts'
import { type JobDocument, jobTopic } from './job.ts'
import { addressOf, type JobAttempt, traceOf } from './job-attempt.ts'
import { openStepCall, type StepScope } from './open-step-call.ts'

const tick_ms = 1_000
/**
 * Ticks that a step has to end after its abort, within the time of a stop. Ticks and not a time, since a busy event loop
 * delays both.
 */
const grace_ticks = 3
const principal_check_ms = 60_000

/** A step under way. `limit` aborts it with the refusal that fails its job; the signal of `scope` also at a stop and a loss. */
export type StepWatch = {
  readonly step_ms: number
  readonly limit: AbortController
  readonly scope: StepScope
}

/** A step that goes on after its abort. */
class StepStuckError extends Error {}

/** The outcome of the step; a `StepStuckError`, which is logged, for one that has ignored its abort. */
export async function watchStep(
  attempt: JobAttempt,
  doc: Doc<JobDocument>,
  step: StepWatch,
  work: Promise<unknown>,
): Promise<unknown> {
  const done = new AbortController()
  try {
    void watchPrincipal(attempt, doc, step, done.signal)
    return await Promise.race([work, watchLimit(attempt, step, done.signal)])
  } finally {
    done.abort()
  }
}

/** Resolves once the step has ignored its abort. */
async function watchLimit(
  { call, kind, id, ...attempt }: JobAttempt,
  { step_ms, limit, scope: { signal } }: StepWatch,
  done: AbortSignal,
): Promise<StepStuckError> {
  const until_ms = call.monotonic() + step_ms
  let ignored = 0
  for await (const _ of call.changes(`${jobTopic(kind.collection, id)}/limit`, done, tick_ms)) {
    if (call.monotonic() >= until_ms) limit.abort(refuse('timeout', `a step may run for ${step_ms / 1_000} s`))
    if (!signal.aborted || ignored++ < grace_ticks) continue
    call.log.error(`${addressOf({ ...attempt, kind })}.stuck`, { ...traceOf(call), job: id, step_ms })
    break
  }
  return new StepStuckError(`a step of the job ${id} ignores its abort`)
}

/** Without a verdict the step goes on: it began with one. */
async function watchPrincipal(
  attempt: JobAttempt,
  doc: Doc<JobDocument>,
  { limit, scope }: StepWatch,
  done: AbortSignal,
): Promise<void> {
  const { call, kind, id } = attempt
  let checked_ms = call.monotonic()
  for await (const _ of call.changes(`${jobTopic(kind.collection, id)}/principal`, done, principal_check_ms)) {
    if (call.monotonic() - checked_ms < principal_check_ms) continue
    checked_ms = call.monotonic()
    const verdict: unknown = await openStepCall(attempt, doc, scope).catch((error: unknown) => error)
    if (isFinalRefusal(verdict)) return limit.abort(verdict)
  }
}

function isFinalRefusal(value: unknown): value is Refusal {
  return isRefusal(value) && !value.row.retryable
}

// One attempt of a process at a job, from its lease to its end.
import { isRefusal } from '../error/errors.ts'
import type { Call } from '../operation/call.ts'
import type { AnyJobKind } from './job.ts'
import type { JobEnvironment } from './job-environment.ts'
import type { Lease } from './lease.ts'

export type JobAttempt = {
  readonly call: Call
  readonly kind: AnyJobKind
  readonly id: string
  readonly environment: JobEnvironment
  /** A lease that vanished is taken anew. */
  lease: Lease
  /** Monotonic time before the lease was requested. */
  readonly taken_ms: number
  readonly lost: AbortController
}

/** `role.kind`: of log events and audit records. */
export function addressOf({
  environment,
  kind,
}: {
  environment: Pick<JobEnvironment, 'role'>
  kind: AnyJobKind
}): string {
  return `${environment.role}.${kind.name}`
}

/** Logs what a job could not do. */
export function logJobFailure({ call, ...attempt }: JobAttempt, error: unknown): void {
  const level = isRefusal(error) && error.row.retryable ? 'warn' : 'error'
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  call.log[level](`${addressOf(attempt)}.failed`, { ...traceOf(call), job: attempt.id, error: text })
}

export function traceOf({ trace: { trace_id } }: Call) {
  return { trace_id }
}

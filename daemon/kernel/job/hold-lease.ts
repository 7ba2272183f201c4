// Holds the lease of a job: renews it, and ends the work once another process may have it.
import { type JobDocument, jobTopic } from './job.ts'
import { addressOf, type JobAttempt, logJobFailure, traceOf } from './job-attempt.ts'
import { isClaimValid, type JobClaim } from './rules.ts'

/** Life of a lease: after a crash, the time until another process takes over. */
export const lease_ms = 15_000
const renewal_ms = 5_000

/**
 * Renews the lease, and aborts the work once it is lost, once the claim is not valid any more, or once renewals have
 * failed for the life of the lease: another process may work on it then.
 */
export async function watchLease(attempt: JobAttempt, claimed: JobClaim, done: AbortSignal): Promise<void> {
  const { call, kind, id, taken_ms, lost } = attempt
  let renewed_ms = taken_ms
  for await (const _ of call.changes(jobTopic(kind.collection, id), done, renewal_ms)) {
    try {
      if (call.monotonic() - renewed_ms >= renewal_ms) {
        const requested_ms = call.monotonic()
        if (!(await extendLease(attempt))) return lost.abort()
        renewed_ms = requested_ms
      }
      const doc = await call.store<JobDocument>(kind.collection).find(id)
      if (doc && isClaimValid(doc.value, claimed)) continue
      if (doc && isClaimedAnew(doc.value, claimed)) await reportContention(attempt)
      return lost.abort()
    } catch (error) {
      if (call.monotonic() - renewed_ms < lease_ms) continue
      logJobFailure(attempt, error)
      return lost.abort()
    }
  }
}

/** Whether another claim followed: the job has not ended, and was not given back. */
function isClaimedAnew({ job: { state, claims } }: JobDocument, claimed: JobClaim): boolean {
  return state === 'running' && claims > claimed.claims
}

/** Another process took the job while this one has its lease, as where the two keep their leases in different stores. */
async function reportContention(attempt: JobAttempt): Promise<void> {
  const { call, kind, environment, id, lease } = attempt
  if (!(await environment.leases.renew(lease, lease_ms))) return
  const detail = 'another process took the job beside the lease of this one: do all keep their leases in one store?'
  call.log.warn(`${addressOf({ environment, kind })}.contended`, { ...traceOf(call), job: id, detail })
}

/** Also takes a lease anew that has vanished, as in a Redis that restarted: the claim decides whether the job is lost. */
async function extendLease(attempt: JobAttempt): Promise<boolean> {
  const { leases } = attempt.environment
  if (await leases.renew(attempt.lease, lease_ms)) return true
  const taken = await leases.take(attempt.lease.key, lease_ms)
  attempt.lease = taken ?? attempt.lease
  return taken !== undefined
}

/** Gives the lease back. It ends by itself where that fails. */
export async function releaseLease(attempt: JobAttempt): Promise<void> {
  const { environment, lease } = attempt
  await environment.leases.release(lease).catch((error: unknown) => logJobFailure(attempt, error))
}

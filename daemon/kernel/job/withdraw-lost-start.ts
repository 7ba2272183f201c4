// Takes back the start of a job that its process has lost, so that an outage does not count as a crash.
import { isRefusal } from '../error/errors.ts'
import { lease_ms } from './hold-lease.ts'
import { announceJob, type JobDocument, jobTopic } from './job.ts'
import { type JobAttempt, logJobFailure } from './job-attempt.ts'
import { type JobClaim, withdrawStart } from './rules.ts'

const retry_ms = 5_000

/** Resolves once the store has answered, or at a stop. Never rejects. */
export async function withdrawLostStart(attempt: JobAttempt, claimed: JobClaim): Promise<void> {
  await withdrawWhere(attempt, claimed, async () => true)
}

/**
 * Takes back the start of a claim that the store may or may not have made: only while this process has the lease, since
 * another may make the claim of the same number then. Never rejects.
 */
export async function withdrawUnansweredClaim(attempt: JobAttempt, sent: JobClaim): Promise<void> {
  await withdrawWhere(attempt, sent, () => attempt.environment.leases.renew(attempt.lease, lease_ms))
}

async function withdrawWhere(
  attempt: JobAttempt,
  claimed: JobClaim,
  mayWithdraw: () => Promise<boolean>,
): Promise<void> {
  const { call, kind, id } = attempt
  for await (const _ of call.changes(jobTopic(kind.collection, id), call.signal, retry_ms)) {
    try {
      if (!(await mayWithdraw())) return
      const { doc, answer: isWithdrawn } = await call.store<JobDocument>(kind.collection).update(id, ({ value }) => {
        const next = withdrawStart(value, claimed, call.now())
        return next === value ? { answer: false } : { next, answer: true }
      })
      if (isWithdrawn) announceJob(call, kind.collection, doc)
      return
    } catch (error) {
      if (isRefusal(error) && error.row.retryable) continue
      // A removed job has nothing to withdraw.
      if (!isRefusal(error) || error.code !== 'not_found') logJobFailure(attempt, error)
      return
    }
  }
}

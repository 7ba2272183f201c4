// Uses the DAG repository for a deployment: one that does not answer is waited for.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { CommitNote } from '../../../shared/dag-repository/dag-repository.ts'
import type { Deployment } from './deployment-job.ts'
import { changeOf, endWithFault } from './end-deployment.ts'
import { type RepositoryDelay, waitForRepository } from './rules.ts'

/** Undefined where the deployment waits now, or has ended with that. Throws what no wait cures. */
export async function orWait<T>(deployment: Deployment, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!isRefusal(error) || !error.row.retryable) throw error
    await waitLonger(deployment, { kind: 'outage', reason: error.message })
    return undefined
  }
}

export async function waitLonger({ call, collection, doc }: Deployment, delay: RepositoryDelay): Promise<void> {
  const at = call.nowIso()
  const change = changeOf(call, collection, doc.id)
  await change((stored) => {
    const waiting = waitForRepository(stored, delay, call.now())
    return 'next' in waiting ? waiting.next : endWithFault(stored, 'error', { reason: waiting.fault }, at)
  })
}

export function noteOf(call: Call, summary: string): CommitNote {
  return { summary, author: call.caller.subject, now_ms: call.now() }
}

// How long a deployment waits for the DAG repository: for the end of its check, and for one that does not answer.
import { completeStep, releaseJob } from '../../../kernel/job/rules.ts'
import type { ManagedDag, ProposalState } from './model.ts'

/** The interface document: the check is polled every 10 s for up to 200 s. Checks that take longer are looked for each minute. */
const [soon_ms, soon_looks] = [10_000, 20]
const [late_ms, max_looks] = [60_000, soon_looks + 24 * 60]
/** A repository that does not answer for 200 s ends the deployment. */
const max_outages = 20

export type RepositoryDelay =
  /** The check has not ended. */
  | { readonly kind: 'pending'; readonly reason?: string | undefined }
  /** The repository did not answer. */
  | { readonly kind: 'outage'; readonly reason: string }

/** The document until the next look; the reason why there is none. */
export function waitForRepository<T extends ManagedDag>(
  value: T,
  delay: RepositoryDelay,
  now_ms: number,
): { readonly next: T } | { readonly fault: string } {
  const { commit, looks, outages }: ProposalState = value.proposal ?? { looks: 0, outages: 0 }
  const isOutage = delay.kind === 'outage'
  const counts = { looks: looks + (isOutage ? 0 : 1), outages: isOutage ? outages + 1 : 0 }
  if (isOutage && counts.outages > max_outages)
    return { fault: `the DAG repository did not answer ${max_outages} times: ${delay.reason}` }
  if (counts.looks > max_looks) return { fault: 'the check of the DAG repository did not end within a day' }
  const reason = delay.reason === undefined ? {} : { reason: delay.reason }
  const proposal = { ...(commit === undefined ? {} : { commit }), ...counts, ...reason }
  const wait_ms = isOutage || counts.looks <= soon_looks ? soon_ms : late_ms
  return { next: releaseJob(completeStep({ ...value, proposal }), now_ms + wait_ms) }
}

// Begins another deployment of an object with a DAG, once the one before is over.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { isJobOver, newJob } from '../../../kernel/job/rules.ts'
import type { ManagedDag } from './model.ts'

/** A deployment that waits for its first run gives way to the next one. */
export function isBeingChecked(value: ManagedDag): boolean {
  return value.status === 'pending_validation' && !isJobOver(value)
}

export function refuseWhileDeployed(value: ManagedDag): Refusal | undefined {
  if (!isBeingChecked(value)) return undefined
  return refuse('wrong_state', 'the content before is being checked: wait for its end')
}

/** The job of another deployment. Claims go on, so that a holder of the one before stays without its claim. */
export function beginAgain(
  { job: { claims } }: ManagedDag,
  principal: StoredPrincipal | undefined,
  now_ms: number,
): JobFields & Pick<ManagedDag, 'auto_start' | 'proposal'> {
  const { job, ...due } = newJob(principal, now_ms)
  return { ...due, job: { ...job, claims }, auto_start: undefined, proposal: undefined }
}

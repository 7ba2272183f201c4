// Begins another deployment of an object with a DAG: one that waits, for its check or its first run, gives way.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { endJob, isJobOver, newJob } from '../../../kernel/job/rules.ts'
import type { ManagedDag } from './model.ts'

/** A step may be making the content live: at the repository nothing takes that back. */
function isInStep({ status, job }: ManagedDag): boolean {
  return status === 'pending_validation' && job.state === 'running'
}

export function refuseInStep(value: ManagedDag): Refusal | undefined {
  if (!isInStep(value)) return undefined
  return refuse('wrong_state', 'a step of the deployment before is running: try again in a few seconds')
}

/** Before an object is deleted: the document without its deployment, which no process can go on with then. */
export function stopDeployment(value: ManagedDag, at: string): ManagedDag | undefined {
  if (value.status !== 'pending_validation' || isJobOver(value)) return undefined
  const fault = { reason: 'the deployment ended since the object was to be deleted' }
  const ended = { status: 'error', fault, auto_start: undefined, proposal: undefined, updated_at: at } as const
  return endJob(value, 'cancelled', ended)
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

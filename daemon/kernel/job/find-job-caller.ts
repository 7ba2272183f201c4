// The caller for whom a step acts.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { serviceCaller, tenantServiceCaller } from '../identity/admit-caller.ts'
import { type Caller, permits } from '../identity/identity.ts'
import type { Doc } from '../store/store.ts'
import type { JobDocument } from './job.ts'
import { addressOf, type JobAttempt } from './job-attempt.ts'

/** The principal of the job as it is now; the service of the role within the tenant for a job without one. */
export async function findJobCaller(
  { environment, kind, call }: JobAttempt,
  doc: Doc<JobDocument>,
): Promise<Caller | Refusal> {
  const { tenant_id, job } = doc.value
  if (!job.principal) return tenantServiceCaller(environment.role, tenant_id)
  if (job.principal.tenant_id !== tenant_id)
    return refuse('forbidden', 'the job belongs to another tenant than its principal')
  const caller = await environment.principals.load(job.principal)
  if (isRefusal(caller)) return caller
  if (!permits(caller.permissions, kind.allow))
    return refuse('forbidden', `${caller.subject} has no permission ${kind.allow} any more`)
  const acting: Caller = { ...caller, actor: serviceCaller(environment.role).subject }
  const readable = await environment
    .callFor(acting, addressOf({ environment, kind }), call.signal)
    .store(kind.collection)
    .find(doc.id)
  return readable ? acting : refuse('forbidden', `${caller.subject} may no longer see what this job works on`)
}

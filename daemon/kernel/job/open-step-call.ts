// The call of a step: it acts for the principal of the job, with the rights that the principal has now.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { tenantServiceCaller } from '../identity/admit-caller.ts'
import type { DelegatingCredential } from '../identity/delegation.ts'
import type { Caller } from '../identity/identity.ts'
import { resolveStoredCaller } from '../identity/resolve-stored-caller.ts'
import type { Call } from '../operation/call.ts'
import { createCallFor } from '../operation/perform-operation.ts'
import type { Doc } from '../store/store.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { JobDocument } from './job.ts'
import { addressOf, type JobAttempt } from './job-attempt.ts'

export type StepScope = { readonly trace: Trace; readonly signal: AbortSignal }

/**
 * The call of the principal, which may act in its name in turn; of the service of the role within the tenant for work of
 * the site. Throws `Refusal('unavailable')` while `site` cannot be reached.
 */
export async function openStepCall(
  attempt: Pick<JobAttempt, 'environment' | 'kind' | 'call'>,
  doc: Doc<JobDocument>,
  scope: StepScope,
): Promise<Call | Refusal> {
  const { environment, kind } = attempt
  const { role, context } = environment
  const { tenant_id, job } = doc.value
  if (!job.principal) {
    // Whoever edits the stored job must not gain the rights of the service.
    if (!kind.checkSiteWork) return refuse('forbidden', 'the job has no principal to act for')
    return (await kind.checkSiteWork(attempt.call, doc)) ?? openServiceCall(attempt, tenant_id, scope)
  }
  const { grant } = job.principal
  if (grant === undefined) return refuse('forbidden', 'the job has no grant to act by; store the work again')
  // Whatever else is stored: the grant alone decides, and it counts for this document alone.
  const credential = { grant, work: { collection: kind.collection.name, id: doc.id } }
  const terms = { role, tenant_id, allow: kind.allowOf?.(doc.value) ?? kind.allow, role_table: context.role_table }
  const caller = await resolveStoredCaller(context.delegation(scope.trace, credential), terms)
  if (isRefusal(caller)) return caller
  const call = createStepCall(attempt, caller, scope, credential)
  const readable = await call.store(kind.collection).find(doc.id)
  return readable ? call : refuse('forbidden', `${caller.subject} may no longer see what this job works on`)
}

/** The call of the service of the role within one tenant. */
export function openServiceCall(
  attempt: Pick<JobAttempt, 'environment' | 'kind'>,
  tenant_id: string,
  scope: StepScope,
): Call {
  return createStepCall(attempt, tenantServiceCaller(attempt.environment.role, tenant_id), scope)
}

function createStepCall(
  attempt: Pick<JobAttempt, 'environment' | 'kind'>,
  caller: Caller,
  { trace, signal }: StepScope,
  credential?: DelegatingCredential,
): Call {
  return createCallFor(attempt.environment.context, caller, addressOf(attempt), trace, signal, credential)
}

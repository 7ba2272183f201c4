// Stores the caller as the principal of a deployment, and checks its permission for the first run.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import type { Call } from '../../../kernel/operation/call.ts'

/** Throws the refusal of a caller that nothing can be done for later. */
export async function storePrincipal(
  call: Call,
  collection: { readonly name: string },
  id: string,
): Promise<StoredPrincipal> {
  const principal = await call.delegation().store({ collection: collection.name, id })
  if (isRefusal(principal)) throw principal
  return principal
}

export function refuseFirstRun(call: Call, run_on_deploy: boolean): Refusal | undefined {
  if (!run_on_deploy || permits(call.caller.permissions, 'ingest:run')) return undefined
  return refuse('forbidden', 'run_on_deploy needs the permission ingest:run')
}

// Identifies the principal of a delegation request: the requesting role, its credential, and the rights now.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { roleOfCaller } from '../../../kernel/identity/admit-caller.ts'
import type { Principal, WorkPlace } from '../../../kernel/identity/delegation.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { SecretText } from '../../../kernel/secret/secret-text.ts'
import { delegationsPart } from '../parts.ts'
import type { Delegations, PresentedPrincipal, VerifiedCredential } from './model.ts'
import { resolveCurrentPrincipal } from './rules.ts'

/** The credential of a request, in fields that print nothing. */
export type PresentedSecrets = {
  readonly subject_token?: SecretText | undefined
  readonly certificate?: string | undefined
  readonly grant?: SecretText | undefined
  readonly stored_at?: WorkPlace | undefined
}

export type IdentifiedPrincipal = {
  readonly role: string
  readonly presented: PresentedPrincipal
  readonly delegations: Delegations
  readonly held: VerifiedCredential
  readonly principal: Principal
}

/** Refuses callers other than roles of the site, whatever permissions they have. */
export async function identifyPrincipal(
  call: Call,
  { subject_token, certificate, grant, stored_at }: PresentedSecrets,
): Promise<IdentifiedPrincipal | Refusal> {
  const role = roleOfCaller(call.caller)
  if (role === undefined) return refuse('forbidden', 'only roles of the site act in the name of others')
  const credentials = { subject_token: subject_token?.reveal(), certificate, grant: grant?.reveal() }
  if (Object.values(credentials).filter((value) => value !== undefined).length !== 1)
    return refuse('invalid', 'give one of subject_token, certificate and grant')
  if ((grant === undefined) !== (stored_at === undefined))
    return refuse('invalid', 'give stored_at with a grant, and with nothing else')
  const presented = { ...credentials, stored_at }
  const delegations = call.part(delegationsPart)
  const held = await delegations.verify(role, presented)
  if (isRefusal(held)) return held
  call.nameTarget({ id: held.subject })
  const principal = resolveCurrentPrincipal(held, delegations.register, call.site.labels)
  return isRefusal(principal) ? principal : { role, presented, delegations, held, principal }
}

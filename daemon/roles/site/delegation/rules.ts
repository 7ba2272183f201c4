// Decides what a role may do in the name of a principal: never more than it had, and never more than it has now.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { DelegationAudience, Principal } from '../../../kernel/identity/delegation.ts'
import type { Actor } from '../../../kernel/identity/identity.ts'
import { type Clearance, type LabelPolicy, meetClearances } from '../../../kernel/label/label.ts'
import type { OAuthClient } from '../token/model.ts'
import type { DelegatedClaims, DelegationTargets, PrincipalRegister, VerifiedCredential } from './model.ts'

/** Longest life of a delegated token. */
const max_delegated_s = 300
/** Longest chain of actors, and of tokens that one is derived from. */
const max_chain = 8

type CurrentRights = { readonly roles: readonly string[]; readonly clearance?: Clearance | undefined }

/** The principal of a credential as it is now; refuses one that was removed, or has none of its roles any more. */
export function resolveCurrentPrincipal(
  held: VerifiedCredential,
  register: PrincipalRegister,
  policy: LabelPolicy,
): Principal | Refusal {
  const listings = findCurrentRights(held, register)
  if (isRefusal(listings)) return listings
  const narrowed = listings.map((current) => narrowPrincipal(held, current, register.role_names, policy))
  // Several certificates of one holder: the rights of one of them, since no single one has the rights of all.
  const [widest = held] = narrowed.toSorted((a, b) => b.roles.length - a.roles.length)
  if (widest.roles.length === 0 && held.roles.length > 0)
    return refuse('forbidden', `${held.subject} has none of its roles any more: ${held.roles.join(', ')}`)
  return widest
}

/** What both admit: roles of both that exist, and the meet of the clearances. */
function narrowPrincipal(
  { subject, tenant_id, roles, clearance: cleared }: Principal,
  current: CurrentRights,
  role_names: readonly string[],
  policy: LabelPolicy,
): Principal {
  const clearance = meetClearances(cleared, current.clearance, policy)
  return {
    subject,
    tenant_id,
    roles: roles.filter((role) => current.roles.includes(role) && role_names.includes(role)),
    ...(clearance ? { clearance } : {}),
  }
}

/** The principal without clearance above `max_level`; undefined: as it is. Categories and nationality stay. */
export function limitLevel(
  principal: Principal,
  max_level: string | undefined,
  { levels }: LabelPolicy,
): Principal | Refusal {
  if (max_level === undefined) return principal
  const limit = levels.indexOf(max_level)
  if (limit < 0) return refuse('invalid', `the level ${max_level} does not exist at this site`)
  const { clearance } = principal
  if (!clearance || levels.indexOf(clearance.level) <= limit) return principal
  return { ...principal, clearance: { ...clearance, level: max_level } }
}

/** What the site lists for the principal now, one entry for each of its credentials. */
function findCurrentRights(held: VerifiedCredential, register: PrincipalRegister): readonly CurrentRights[] | Refusal {
  const { origin, subject, tenant_id } = held
  const removed = findRemovedExchanger(held, register)
  if (removed !== undefined) return refuseRemoved(`the client ${removed}, which acts for ${subject},`)
  const isHeld = (each: { subject: string; tenant_id: string }) =>
    each.subject === subject && each.tenant_id === tenant_id
  switch (origin.source) {
    case 'client': {
      const client = register.clients.find((each) => each.client_id === origin.client_id && isHeld(each))
      return client ? [client] : refuseRemoved(`the client ${origin.client_id}`)
    }
    case 'certificate': {
      const holders = register.certificate_holders.filter(isHeld)
      return holders.length > 0 ? holders : refuseRemoved(`the certificate holder ${subject}`)
    }
    case 'provider':
      return register.provider?.issuer === origin.issuer
        ? [{ roles: register.provider.roles, clearance: held.clearance }]
        : refuseRemoved(`the identity provider of ${subject}`)
    // Listed nowhere: it has what its token gave it until it is revoked.
    case 'token':
      return [held]
  }
}

/** A client that exchanged the credential, and may not do so any more. */
function findRemovedExchanger({ origin, tenant_id }: VerifiedCredential, { clients }: PrincipalRegister) {
  const exchangers = 'exchanged_by' in origin ? (origin.exchanged_by ?? []) : []
  const mayExchange = (client: OAuthClient) =>
    client.may_exchange && (client.tenant_id === '*' || client.tenant_id === tenant_id)
  return exchangers.find((id) => !clients.some((client) => client.client_id === id && mayExchange(client)))
}

function refuseRemoved(removed: string): Refusal {
  return refuse('forbidden', `${removed} is not in the profile of the site any more`)
}

/** The claims of a grant, with which `role` may act for the principal later. Stored work does not extend its own grant. */
export function decideGrant(
  held: VerifiedCredential,
  principal: Principal,
  { now_s, life_s }: { readonly now_s: number; readonly life_s: number },
): { readonly claims: DelegatedClaims; readonly exp: number } | Refusal {
  const derived_from = [...(held.derived_from ?? []), held.jti]
  if (derived_from.length >= max_chain) return refuseLongChain(principal)
  const exp = Math.min(now_s + life_s, held.grant_exp ?? Number.POSITIVE_INFINITY)
  return { claims: { ...principal, act: held.act, derived_from, origin: held.origin }, exp }
}

/** The claims of a token with which `role` acts for the principal at this audience. */
export function decideDelegatedToken(
  held: VerifiedCredential,
  principal: Principal,
  { role, audience, targets, now_s }: DelegationRequest,
): { readonly claims: DelegatedClaims; readonly exp: number } | Refusal {
  const refused = refuseTarget(role, audience, targets)
  if (refused) return refused
  const derived_from = [...(held.derived_from ?? []), held.jti]
  if (derived_from.length > max_chain || countActors(held.act) >= max_chain) return refuseLongChain(principal)
  const exp = Math.min(now_s + max_delegated_s, held.exp)
  if (exp <= now_s) return refuse('forbidden', `the credential of ${principal.subject} has expired`)
  const act = { sub: `role:${role}`, ...(held.act ? { act: held.act } : {}) }
  const { origin, grant_exp } = held
  return { claims: { ...principal, act, derived_from, origin, ...(grant_exp === undefined ? {} : { grant_exp }) }, exp }
}

export type DelegationRequest = {
  readonly role: string
  readonly audience: DelegationAudience
  readonly targets: DelegationTargets
  /** Seconds since 1970. */
  readonly now_s: number
}

/** The site role is never a target: nobody administers the site, or uses its keys, in the name of another. */
function refuseTarget(role: string, audience: DelegationAudience, targets: DelegationTargets): Refusal | undefined {
  if ('service' in audience) {
    if (targets.services.has(audience.service)) return undefined
    return refuse(
      'forbidden',
      `identity.audiences does not let the role ${role} request tokens for ${audience.service}`,
    )
  }
  if (audience.role !== 'site' && targets.roles.has(audience.role)) return undefined
  return refuse('forbidden', `the role ${role} requests nothing of the role ${audience.role} in the name of others`)
}

function refuseLongChain({ subject }: Principal): Refusal {
  return refuse('forbidden', `the credential of ${subject} has been passed on too often`)
}

function countActors(act: Actor | undefined): number {
  return act ? 1 + countActors(act.act) : 0
}

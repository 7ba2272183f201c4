// Admission: identifies the caller of a request and checks its permission, from the head of the request alone.
import { type Refusal, refuse } from '../error/errors.ts'
import type { AnyOperation } from '../operation/operation.ts'
import type { RoleContext } from '../operation/role-context.ts'
import {
  type Actor,
  type Caller,
  type CredentialClaims,
  isDelegable,
  isPermitted,
  type PresentedCredential,
  permissionsOfRoles,
} from './identity.ts'

const anonymousCaller: Caller = {
  subject: 'anonymous',
  tenant_id: '',
  roles: [],
  permissions: new Set(),
  clearance: undefined,
}

/** Whether no credential identified the caller. */
export function isAnonymous(caller: Caller): boolean {
  return caller === anonymousCaller
}

/**
 * The caller that workers act as: a service of the site, for every tenant. It needs no permission, since the role itself
 * performs its work; another role admits it by `RoleContext.role_calls`.
 */
export function serviceCaller(role: string): Caller {
  return {
    subject: `${role_prefix}${role}`,
    tenant_id: '*',
    roles: ['service'],
    permissions: new Set(),
    clearance: undefined,
  }
}

/** The service of a role within one tenant: what it derives from data of any label of this tenant. */
export function tenantServiceCaller(role: string, only_tenant: string): Caller {
  return { ...serviceCaller(role), only_tenant }
}

const role_prefix = 'role:'

/** The role of this site that the caller is; undefined for everybody else. */
export function roleOfCaller({ subject, tenant_id }: Caller): string | undefined {
  return tenant_id === '*' && subject.startsWith(role_prefix) ? subject.slice(role_prefix.length) : undefined
}

/** Whether the caller is a role of this site, or a role acts for it: in the name of a person, or for the principal of a job. */
export function isRoleActing(caller: Caller): boolean {
  return caller.is_role_acting === true || isRole(caller.actor) || roleOfCaller(caller) !== undefined
}

const isRole = (subject: string | undefined) => subject?.startsWith(role_prefix) === true

/**
 * Whether lists show the operation to the caller: it has the permission, and a role that acts for it may use that. The
 * request is admitted by `admitCaller` nevertheless.
 */
export function isOfferedTo(caller: Caller, { allow }: Pick<AnyOperation, 'allow'>): boolean {
  return isPermitted(caller.permissions, allow) && (isDelegable(allow) || !isRoleActing(caller))
}

/** Claims are cached by the provider, so their callers are cached with them. */
const callersByClaims = new WeakMap<CredentialClaims, Caller>()

function callerFromClaims(claims: CredentialClaims, context: RoleContext): Caller {
  const cached = callersByClaims.get(claims)
  if (cached) return cached
  const caller: Caller = {
    subject: claims.sub,
    tenant_id: claims.tenant_id,
    roles: claims.roles,
    permissions: permissionsOfClaims(claims, context),
    clearance: claims.clearance,
    expires_ts: claims.exp * 1_000,
    ...(claims.act ? { actor: claims.act.sub } : {}),
    ...(hasRoleActor(claims.act) ? { is_role_acting: true } : {}),
  }
  callersByClaims.set(claims, caller)
  return caller
}

function permissionsOfClaims(claims: CredentialClaims, { role_table, role_calls }: RoleContext): ReadonlySet<string> {
  if (!isSiteService(claims)) return permissionsOfRoles(claims.roles, role_table)
  return role_calls.get(claims.sub.slice(role_prefix.length)) ?? new Set()
}

/**
 * Whether the credential belongs to a service of the site. Only the site's own issuer may grant this; see
 * `isTenantServed`.
 */
function isSiteService({ sub, tenant_id, roles }: CredentialClaims): boolean {
  return tenant_id === '*' && sub.startsWith(role_prefix) && roles.length === 1 && roles[0] === 'service'
}

/**
 * Why a role may not do this in the name of the subject: it requests other operations, or this one administers the site. A
 * token that a role holds for somebody is worth no more than the requests of its code, and the tools of the site at the
 * role that aggregates them.
 */
function refuseDelegated(
  { role_calls, delegated_calls }: Pick<RoleContext, 'role_calls' | 'delegated_calls'>,
  address: string,
  allow: AnyOperation['allow'],
  { sub, act }: CredentialClaims,
): Refusal | undefined {
  if (!hasRoleActor(act)) return undefined
  if (!isDelegable(allow)) return refuse('forbidden', `no role may use ${allow} in the name of ${sub}`)
  const role = nameRole(act?.sub)
  if (role !== undefined && [role_calls, delegated_calls].some((calls) => calls.get(role)?.has(address)))
    return undefined
  return refuse('forbidden', `${act?.sub} does not request ${address}`)
}

function hasRoleActor(act: Actor | undefined): boolean {
  return act !== undefined && (isRole(act.sub) || hasRoleActor(act.act))
}

/** The facts about an operation, or another route, on which admission depends. */
export type AdmissionTarget = { readonly address: string; readonly operation: Pick<AnyOperation, 'allow'> }

/**
 * The caller of a request, if it is permitted. Runs before a body is read, so that bytes of an unknown sender are never
 * parsed.
 */
export async function admitCaller(
  context: RoleContext,
  { address, operation }: AdmissionTarget,
  presented: PresentedCredential,
): Promise<Caller | Refusal> {
  const { bearer, certificate } = presented
  const certified_role = findCertifiedRole(context, presented)
  const hasShown = bearer !== undefined || certificate !== undefined
  // The certificate of a role identifies no holder: it only lets the tokens of this role come from another machine.
  const holder = certified_role === undefined ? certificate : undefined
  const claims = hasShown ? await context.identity.verify(bearer, holder) : undefined
  const misplaced = claims && (presented.isLocal ? undefined : refuseAbroad(context, address, claims, certified_role))
  const isKnown = claims !== undefined && !misplaced && isTenantServed(claims, context.only_tenant)
  if (operation.allow === 'public') return isKnown ? callerFromClaims(claims, context) : anonymousCaller
  if (!claims) return refuse('unauthenticated', describeMissingIdentity(bearer, certificate))
  if (misplaced) return misplaced
  if (!isKnown) return refuse('forbidden', 'this service is available only to the site’s own tenant')
  const caller = callerFromClaims(claims, context)
  if (isSiteService(claims)) {
    if (caller.permissions.has(address)) return caller
    return refuse('forbidden', `${claims.sub} does not request ${address}`)
  }
  if (operation.allow === 'role') return refuse('forbidden', 'only roles of the site request this operation')
  const refused = refuseDelegated(context, address, operation.allow, claims)
  if (refused) return refused
  if (isPermitted(caller.permissions, operation.allow)) return caller
  return refuse('forbidden', `the operation requires the permission ${operation.allow}`)
}

/** The role of this site whose certificate the connection shows: valid now, and never on a local socket. */
export function findCertifiedRole(
  { identity }: Pick<RoleContext, 'identity'>,
  { certificate, isLocal }: PresentedCredential,
): string | undefined {
  return isLocal || !certificate ? undefined : identity.findRole?.(certificate)
}

/**
 * Why the token is refused outside local sockets. A token of a role, or one that a role holds for somebody, comes over a
 * connection with the certificate of this role, and such a connection carries nothing else: stolen tokens open nothing there.
 * The aggregator of tools uses its tokens for tools without one, since a tool is reached where it is registered.
 */
function refuseAbroad(
  { delegated_calls }: Pick<RoleContext, 'delegated_calls'>,
  address: string,
  claims: CredentialClaims,
  certified_role: string | undefined,
): Refusal | undefined {
  const role = isSiteService(claims) ? nameRole(claims.sub) : hasRoleActor(claims.act) && nameRole(claims.act?.sub)
  if (certified_role !== undefined && role !== certified_role)
    return refuse('forbidden', `this connection has the certificate of ${certified_role}, and the token is not of it`)
  if (role === false || certified_role !== undefined) return undefined
  if (!isSiteService(claims) && role !== undefined && delegated_calls.get(role)?.has(address)) return undefined
  return refuse('forbidden', 'the token of a role is accepted on the local socket, or with the certificate of the role')
}

const nameRole = (subject: string | undefined) => (isRole(subject) ? subject?.slice(role_prefix.length) : undefined)

function describeMissingIdentity(
  bearer: PresentedCredential['bearer'],
  certificate: PresentedCredential['certificate'],
): string {
  if (bearer !== undefined) return 'the token is not valid'
  return certificate ? 'the certificate is not valid' : 'no bearer token was sent'
}

/** Whether the role serves the tenant. Only services of the site act for every tenant at once; no token grants that. */
function isTenantServed({ sub, tenant_id }: CredentialClaims, only: string | undefined): boolean {
  if (tenant_id === '*') return sub.startsWith(role_prefix)
  return only === undefined || tenant_id === only
}

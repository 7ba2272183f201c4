// Admission: identifies the caller of a request and checks its permission, from the head of the request alone.
import { type Refusal, refuse } from '../error/errors.ts'
import type { AnyOperation } from '../operation/operation.ts'
import type { RoleContext } from '../operation/role-context.ts'
import {
  type Caller,
  type CredentialClaims,
  type PresentedCertificate,
  permissionsOfRoles,
  permits,
  servicePermissions,
} from './identity.ts'

const anonymousCaller: Caller = {
  subject: 'anonymous',
  tenant_id: '',
  roles: [],
  permissions: new Set(),
  clearance: undefined,
}

/** The caller that workers act as: a service of the site, for every tenant. */
export function serviceCaller(role: string): Caller {
  const subject = `role:${role}`
  const permissions = servicePermissions(subject)
  return { subject, tenant_id: '*', roles: ['service'], permissions, clearance: undefined }
}

/** Claims are cached by the provider, so their callers are cached with them. */
const callersByClaims = new WeakMap<CredentialClaims, Caller>()

function callerFromClaims(claims: CredentialClaims, table: RoleContext['role_table']): Caller {
  const cached = callersByClaims.get(claims)
  if (cached) return cached
  const caller: Caller = {
    subject: claims.sub,
    tenant_id: claims.tenant_id,
    roles: claims.roles,
    permissions: isSiteService(claims) ? servicePermissions(claims.sub) : permissionsOfRoles(claims.roles, table),
    clearance: claims.clearance,
    expires_ts: claims.exp * 1_000,
    ...(claims.act ? { actor: claims.act.sub } : {}),
  }
  callersByClaims.set(claims, caller)
  return caller
}

/**
 * Whether the credential belongs to a service of the site. Only the site's own issuer may grant this; see
 * `isTenantServed`.
 */
function isSiteService({ sub, tenant_id, roles }: CredentialClaims): boolean {
  return tenant_id === '*' && sub.startsWith('role:') && roles.length === 1 && roles[0] === 'service'
}

/**
 * The caller of a request, if it is permitted. Runs before a body is read, so that bytes of an unknown sender are never
 * parsed.
 */
export async function admitCaller(
  context: RoleContext,
  operation: Pick<AnyOperation, 'allow'>,
  bearer: string | undefined,
  certificate?: PresentedCertificate,
): Promise<Caller | Refusal> {
  const hasShown = bearer !== undefined || certificate !== undefined
  const claims = hasShown ? await context.identity.verify(bearer, certificate) : undefined
  const isKnown = claims !== undefined && isTenantServed(claims, context.only_tenant)
  if (operation.allow === 'public') return isKnown ? callerFromClaims(claims, context.role_table) : anonymousCaller
  if (!claims) return refuse('unauthenticated', describeMissingIdentity(bearer, certificate))
  if (!isKnown) return refuse('forbidden', 'this service is available only to the site’s own tenant')
  const caller = callerFromClaims(claims, context.role_table)
  if (operation.allow === 'authenticated' || permits(caller.permissions, operation.allow)) return caller
  return refuse('forbidden', `the operation requires the permission ${operation.allow}`)
}

function describeMissingIdentity(bearer: string | undefined, certificate: PresentedCertificate | undefined): string {
  if (bearer !== undefined) return 'the token is not valid'
  return certificate ? 'the certificate is not valid' : 'no bearer token was sent'
}

/** Whether the role serves the tenant. Only services of the site act for every tenant at once; no token grants that. */
function isTenantServed({ sub, tenant_id }: CredentialClaims, only: string | undefined): boolean {
  if (tenant_id === '*') return sub.startsWith('role:')
  return only === undefined || tenant_id === only
}

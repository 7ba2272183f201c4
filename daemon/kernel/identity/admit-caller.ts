// Admission: identifies the caller of a request and checks its permission, from the head of the request alone.
import { type Refusal, refuse } from '../error/errors.ts'
import type { AnyOperation } from '../operation/operation.ts'
import type { RoleContext } from '../operation/role-context.ts'
import {
  type Caller,
  type CredentialClaims,
  permissionsOfRoles,
  permits,
  type ShownCertificate,
  servicePermissions,
} from './identity.ts'

const anonymousCaller: Caller = {
  subject: 'anonymous',
  tenant_id: '',
  roles: [],
  permissions: new Set(),
  clearance: undefined,
}

/** The site's own hand: what workers act as, for every tenant. */
export function serviceCaller(role: string): Caller {
  const subject = `role:${role}`
  const permissions = servicePermissions(subject)
  return { subject, tenant_id: '*', roles: ['service'], permissions, clearance: undefined }
}

/** Claims are cached by the provider, so their callers are cached with them. */
const callersByClaims = new WeakMap<CredentialClaims, Caller>()

function callerFromClaims(claims: CredentialClaims, table: RoleContext['role_table']): Caller {
  const known = callersByClaims.get(claims)
  if (known) return known
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

/** No issuer but the site itself may say this; see `isTenantServed`. */
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
  certificate?: ShownCertificate,
): Promise<Caller | Refusal> {
  const hasShown = bearer !== undefined || certificate !== undefined
  const claims = hasShown ? await context.identity.verify(bearer, certificate) : undefined
  const isKnown = claims !== undefined && isTenantServed(claims, context.only_tenant)
  if (operation.allow === 'public') return isKnown ? callerFromClaims(claims, context.role_table) : anonymousCaller
  if (!claims) return refuse('unauthenticated', describeMissingIdentity(bearer, certificate))
  if (!isKnown) return refuse('forbidden', 'this service is for the site’s own tenant')
  const caller = callerFromClaims(claims, context.role_table)
  if (operation.allow === 'authenticated' || permits(caller.permissions, operation.allow)) return caller
  return refuse('forbidden', `this needs the permission ${operation.allow}`)
}

function describeMissingIdentity(bearer: string | undefined, certificate: ShownCertificate | undefined): string {
  if (bearer !== undefined) return 'the token is not valid'
  return certificate ? 'the certificate is not valid' : 'no bearer token was sent'
}

/** Only the roles of the site act for every tenant at once; no token grants that. */
function isTenantServed({ sub, tenant_id }: CredentialClaims, only: string | undefined): boolean {
  if (tenant_id === '*') return sub.startsWith('role:')
  return only === undefined || tenant_id === only
}

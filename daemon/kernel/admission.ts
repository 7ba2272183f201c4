// Who asks, and whether they may: judged by the head of a request alone.
import { type Refused, refuse } from './errors.ts'
import {
  type Caller,
  type Claims,
  permissionsOf,
  permits,
  type ShownCertificate,
  servicePermissions,
} from './identity.ts'
import type { Workshop } from './invoke.ts'
import type { AnyOperation } from './operation.ts'

const nobody: Caller = { subject: 'anonymous', tenant_id: '', roles: [], permissions: new Set(), clearance: undefined }

/** The site's own hand: what workers act as, for every tenant. */
export function serviceCaller(role: string): Caller {
  const subject = `role:${role}`
  const permissions = servicePermissions(subject)
  return { subject, tenant_id: '*', roles: ['service'], permissions, clearance: undefined }
}

/** Claims are cached by the provider, so their callers are cached with them. */
const callers = new WeakMap<Claims, Caller>()

function callerOf(claims: Claims, table: Workshop['role_table']): Caller {
  const known = callers.get(claims)
  if (known) return known
  const caller: Caller = {
    subject: claims.sub,
    tenant_id: claims.tenant_id,
    roles: claims.roles,
    permissions: isService(claims) ? servicePermissions(claims.sub) : permissionsOf(claims.roles, table),
    clearance: claims.clearance,
    expires_ts: claims.exp * 1_000,
    ...(claims.act ? { actor: claims.act.sub } : {}),
  }
  callers.set(claims, caller)
  return caller
}

/** No issuer but the site itself may say this; see `isServed`. */
function isService({ sub, tenant_id, roles }: Claims): boolean {
  return tenant_id === '*' && sub.startsWith('role:') && roles.length === 1 && roles[0] === 'service'
}

/** Who asks, if they may: runs before a body is read, so that a stranger's bytes are never parsed. */
export async function admit(
  shop: Workshop,
  operation: Pick<AnyOperation, 'allow'>,
  bearer: string | undefined,
  certificate?: ShownCertificate,
): Promise<Caller | Refused> {
  const hasShown = bearer !== undefined || certificate !== undefined
  const claims = hasShown ? await shop.identity.verify(bearer, certificate) : undefined
  const isKnown = claims !== undefined && isServed(claims, shop.only_tenant)
  if (operation.allow === 'public') return isKnown ? callerOf(claims, shop.role_table) : nobody
  if (!claims) return refuse('unauthenticated', whyUnknown(bearer, certificate))
  if (!isKnown) return refuse('forbidden', 'this service is for the site’s own tenant')
  const caller = callerOf(claims, shop.role_table)
  if (operation.allow === 'authenticated' || permits(caller.permissions, operation.allow)) return caller
  return refuse('forbidden', `this needs the permission ${operation.allow}`)
}

function whyUnknown(bearer: string | undefined, certificate: ShownCertificate | undefined): string {
  if (bearer !== undefined) return 'the token is not valid'
  return certificate ? 'the certificate is not valid' : 'no bearer token was sent'
}

/** Every tenant at once is for the site's own roles alone, whatever a token says. */
function isServed({ sub, tenant_id }: Claims, only: string | undefined): boolean {
  if (tenant_id === '*') return sub.startsWith('role:')
  return only === undefined || tenant_id === only
}

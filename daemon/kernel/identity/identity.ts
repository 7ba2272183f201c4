// The caller of a request: the claims of a verified token, and the permissions of its roles.
import * as z from 'zod'
import { type Clearance, clearance } from '../label/label.ts'
import type { DelegatingCredential } from './delegation.ts'

/** The party that acts for the subject, and the chain of parties that it acts through (RFC 8693 section 4.1). */
export const actor = z.object({
  sub: z.string().min(1).max(256),
  get act(): z.ZodOptional<z.ZodType<Actor>> {
    return z.optional(actor)
  },
})
export type Actor = { sub: string; act?: Actor | undefined }

/**
 * Claims that every provider must find in a credential. `tenant_id` "*" belongs only to a service identity of the site.
 */
export const credentialClaims = z.object({
  sub: z.string().min(1).max(256),
  tenant_id: z.string().min(1).max(128),
  roles: z.array(z.string().min(1).max(64)).max(32).default([]),
  clearance: clearance.optional(),
  jti: z.string().min(1).max(128),
  exp: z.int(),
  act: actor.optional(),
})

export type CredentialClaims = z.infer<typeof credentialClaims>

export type Permission = `${string}:${string}`

export type Caller = {
  readonly subject: string
  /** "*" for the site's own services, which act for every tenant. */
  readonly tenant_id: string
  readonly roles: readonly string[]
  /** Of a role of the site: addresses of operations, since it may perform no others (`daemon/role-calls.ts`). */
  readonly permissions: ReadonlySet<string>
  readonly clearance: Clearance | undefined
  /** Confines a service of the site, whose tenant is "*", to one tenant: its jobs reach no other. */
  readonly only_tenant?: string
  /** The party that acts for the subject (RFC 8693 `act`). */
  readonly actor?: string
  /** True if a role of the site is among the parties that act for the subject. */
  readonly is_role_acting?: true
  /** Expiry of the credential in epoch milliseconds; absent for the site's own services. */
  readonly expires_ts?: number
}

/**
 * A client certificate; the carrier has verified that the client holds its private key. `fault`: why the carrier does
 * not trust it. The same object for the whole connection.
 */
export type PresentedCertificate = { readonly der: Uint8Array; readonly fault?: string | undefined }

/** What a request presents to be admitted, and where. */
export type PresentedCredential = {
  readonly bearer: string | undefined
  readonly certificate?: PresentedCertificate | undefined
  /** Whether the request came over a local socket. Elsewhere a role also needs its certificate (docs/decisions/0153). */
  readonly isLocal: boolean
}

/** The part of an admitted credential by which `site` can identify the caller again. */
export function delegatingCredential({ bearer, certificate }: PresentedCredential): DelegatingCredential | undefined {
  if (bearer !== undefined) return { subject_token: bearer }
  return certificate && { certificate: certificate.der }
}

/**
 * Verifies a credential: a token, a certificate, or a token shown over a connection with a certificate. Returns
 * `undefined` for an invalid credential; the reason goes to the log, not to the caller. Providers never throw for a
 * bad credential; they throw `Refusal('unavailable')` when they cannot reach a verdict.
 */
export interface IdentityProvider {
  readonly name: 'offline' | 'oidc' | 'x509'
  verify(bearer: string | undefined, certificate?: PresentedCertificate): Promise<CredentialClaims | undefined>
  /**
   * The role of this site that a certificate names, judged now. Absent where roles are admitted on local sockets alone.
   * Throws `Refusal('unavailable')` when it cannot be judged.
   */
  readonly findRole?: ((certificate: PresentedCertificate) => string | undefined) | undefined
}

/**
 * The built-in roles and their permissions; "x:*" is every permission of a noun, "*" is all. The profile may add
 * roles. Connections of ingest hold credentials of foreign systems (`ingest:connect`), and guidance is administered by
 * administrators alone (`guide:admin`): both are in no list but that of whole nouns and of `admin`. `service` is for services
 * beside the site; the site's own roles are not in this table, since each is admitted to the operations that its code requests.
 */
export const builtInRoles: Readonly<Record<string, readonly string[]>> = {
  admin: ['*'],
  operator: [
    'consensus:*',
    'resolution:*',
    'intelligence:*',
    'federation:read',
    'channel:*',
    'peer:*',
    'quarantine:*',
    'store:*',
    'metrics:read',
    'audit:read',
    'health:read',
    'openapi:read',
    'site:read',
    'key:read',
    'token:revoke',
    'hub:read',
    'proxy:*',
    'ingest:*',
    'gateway:read',
    'gateway:inspect',
    'gateway:call',
    'gateway:chat',
    'edge:read',
    'guide:observe',
  ],
  analyst: [
    'consensus:read',
    'consensus:write',
    'consensus:open',
    'consensus:attest',
    'resolution:read',
    'resolution:write',
    'resolution:review',
    'intelligence:read',
    'intelligence:write',
    'intelligence:review',
    'intelligence:attest',
    'federation:read',
    'ingest:read',
    'ingest:write',
    'ingest:run',
    'gateway:read',
    'gateway:call',
    'gateway:chat',
    'guide:observe',
    'health:read',
    'openapi:read',
  ],
  auditor: [
    'consensus:read',
    'resolution:read',
    'intelligence:read',
    'federation:read',
    'audit:read',
    'channel:read',
    'quarantine:read',
    'metrics:read',
    'health:read',
    'openapi:read',
    'site:read',
    'key:read',
    'peer:read',
    'hub:read',
    'proxy:read',
    'ingest:read',
    'gateway:read',
    'gateway:inspect',
    'edge:read',
  ],
  node: ['hub:node', 'hub:read', 'health:read', 'openapi:read'],
  service: [
    'consensus:*',
    'resolution:*',
    'intelligence:*',
    'federation:*',
    'metrics:read',
    'health:read',
    'openapi:read',
    'key:read',
    'peer:read',
    'ingest:read',
    'ingest:dispatch',
    'gateway:read',
    'gateway:register',
    'guide:observe',
  ],
}

/** Nouns of permissions that administer the site or use its keys: no role has them in the name of another. */
const administrative_nouns: ReadonlySet<string> = new Set([
  'backup',
  'channel',
  'checkpoint',
  'federation',
  'key',
  'message',
  'peer',
  'quarantine',
  'site',
  'store',
  'token',
])

/** Whether a role that acts in the name of a principal may use the permission; what roles alone may do is theirs. */
export function isDelegable(permission: string): boolean {
  return permission !== 'role' && !administrative_nouns.has(permission.split(':')[0] ?? '')
}

export function permissionsOfRoles(
  roles: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): Set<string> {
  return new Set(roles.flatMap((role) => table[role] ?? []))
}

export function permits(permissions: ReadonlySet<string>, required: string): boolean {
  const [noun] = required.split(':')
  return permissions.has(required) || permissions.has('*') || permissions.has(`${noun}:*`)
}

/** Whether a caller that is not a role of the site may use an operation of this `allow`. */
export function isPermitted(permissions: ReadonlySet<string>, allow: string): boolean {
  if (allow === 'role') return false
  return allow === 'public' || allow === 'authenticated' || permits(permissions, allow)
}

// The caller of a request: the claims of a verified token, and the permissions of its roles.
import * as z from 'zod'
import { type Clearance, clearance } from '../label/label.ts'

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
  readonly permissions: ReadonlySet<string>
  readonly clearance: Clearance | undefined
  /** The one who acts for the subject (RFC 8693 `act`). */
  readonly actor?: string
  /** When the credential ends, in epoch milliseconds; absent for the site's own services. */
  readonly expires_ts?: number
}

/**
 * A client's certificate whose private key the carrier has seen proved. `fault`: why the carrier itself does not trust it.
 * The same object for the length of a connection.
 */
export type ShownCertificate = { readonly der: Uint8Array; readonly fault?: string | undefined }

/**
 * Verifies a credential: a token, a certificate, or a token shown over a connection with a certificate. Why one failed goes to the log, not to the caller: `undefined` for anything that is not valid.
 * Providers never throw for a bad credential; they throw `Refusal('unavailable')` when they cannot judge.
 */
export interface IdentityProvider {
  readonly name: 'offline' | 'oidc' | 'x509'
  verify(bearer: string | undefined, certificate?: ShownCertificate): Promise<CredentialClaims | undefined>
}

/** The one table of built-in roles; "x:*" is every permission of a noun, "*" is all. The profile may add roles. */
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
  ],
  analyst: [
    'consensus:read',
    'consensus:write',
    'consensus:attest',
    'resolution:read',
    'resolution:write',
    'resolution:review',
    'intelligence:read',
    'intelligence:write',
    'intelligence:review',
    'intelligence:attest',
    'federation:read',
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
  ],
  node: ['hub:node', 'hub:read', 'health:read', 'openapi:read'],
  service: [
    'consensus:*',
    'resolution:*',
    'intelligence:*',
    'federation:*',
    'channel:send',
    'evidence:sign',
    'checkpoint:write',
    'backup:write',
    'message:verify',
    'metrics:read',
    'health:read',
    'openapi:read',
    'key:read',
    'peer:read',
  ],
}

/** Permissions of one role beyond those of every service: signals are raised about stale channels and quarantine. */
const extraServicePermissions: Readonly<Record<string, readonly string[]>> = {
  'role:intelligence': ['channel:read', 'quarantine:read'],
}

/** Permissions of a service of the site, which acts for every tenant, by its subject. */
export function servicePermissions(subject: string): Set<string> {
  return new Set([...(builtInRoles.service ?? []), ...(extraServicePermissions[subject] ?? [])])
}

export function permissionsOfRoles(
  roles: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): Set<string> {
  return new Set(roles.flatMap((role) => table[role] ?? []))
}

export function permits(permissions: ReadonlySet<string>, wanted: string): boolean {
  const [noun] = wanted.split(':')
  return permissions.has(wanted) || permissions.has('*') || permissions.has(`${noun}:*`)
}

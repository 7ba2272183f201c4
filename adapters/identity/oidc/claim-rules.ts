// Maps a provider's claims to this site: tenant, roles by the table of the profile, clearance.
import * as z from 'zod'
import { actor } from '../../../daemon/kernel/identity/identity.ts'
import { clearance } from '../../../daemon/kernel/label/label.ts'

/** Times are in seconds since 1970. */
export type ProviderClaims = {
  readonly sub: string
  readonly jti: string
  readonly iat: number
  readonly exp: number
  readonly azp?: string | undefined
  readonly client_id?: string | undefined
  readonly [claim: string]: unknown
}

export type ClaimMapping = {
  readonly tenant_claim: string
  readonly clearance_claim: string
  readonly role_claims: readonly string[]
  /** Role of the provider to roles of the site. */
  readonly role_map: Readonly<Record<string, readonly string[]>>
}

/** A tenant claim must have one value. */
const singleValue = z
  .union([z.string(), z.tuple([z.string()]).transform(([only]) => only)])
  .pipe(z.string().min(1).max(128))
const wordList = z.union([z.array(z.string()), z.string().transform((text) => text.split(' '))])
const clearanceClaim = z.union([
  clearance,
  z
    .string()
    .transform((level) => ({ level }))
    .pipe(clearance),
])

/**
 * The claims as the site's own issuer would write them, or why they are refused, for the log. No external token may name
 * one of the site's services, or every tenant.
 */
export function mapClaims(
  given: ProviderClaims,
  mapping: ClaimMapping,
): { readonly payload: Readonly<Record<string, unknown>> } | { readonly refused: string } {
  const tenant = singleValue.safeParse(readClaim(given, mapping.tenant_claim))
  if (!tenant.success) return { refused: 'no_tenant' }
  if (tenant.data === '*' || given.sub.startsWith('role:')) return { refused: 'reserved' }
  const clearance = readClaim(given, mapping.clearance_claim)
  const clearedFor = clearanceClaim.optional().safeParse(clearance ?? undefined)
  if (!clearedFor.success) return { refused: 'clearance' }
  const act = actor.optional().safeParse(given.act)
  if (!act.success) return { refused: 'actor' }
  const roles = mapRoles(given, mapping)
  if (!roles) return { refused: 'roles' }
  return {
    payload: {
      sub: given.sub,
      tenant_id: tenant.data,
      roles,
      ...(clearedFor.data ? { clearance: clearedFor.data } : {}),
      client_id: given.client_id ?? given.azp,
      jti: given.jti,
      iat: Math.floor(given.iat),
      exp: Math.floor(given.exp),
      ...(act.data ? { act: act.data } : {}),
    },
  }
}

/** Undefined for an invalid role claim. */
function mapRoles(given: ProviderClaims, { role_claims, role_map }: ClaimMapping): string[] | undefined {
  const claim = role_claims.map((path) => readClaim(given, path)).find((value) => value !== undefined)
  if (claim === undefined) return []
  const named = wordList.safeParse(claim).data
  return named && [...new Set(named.flatMap((name) => (Object.hasOwn(role_map, name) ? (role_map[name] ?? []) : [])))]
}

/** Looks up the whole path as one name first, since names with dots exist; then follows it from object to object. */
function readClaim(given: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(given, path)) return given[path]
  let value: unknown = given
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

// Connects delegation of the site role: verifies credentials as each role would, seals grants, mints tokens, exchanges abroad.
import { type IssuedClaims, verifyIssuedToken } from '../../../adapters/identity/offline/issued-token.ts'
import {
  grantAudienceUrn,
  type OfflineIssuer,
  roleAudienceUrn,
  siteIssuerUrn,
} from '../../../adapters/identity/offline/issuer.ts'
import type { Revocations } from '../../../adapters/identity/offline/revocations.ts'
import type { TokenKey } from '../../../adapters/keys/jose/token-keys.ts'
import { verifyToken } from '../../../adapters/keys/jose/tokens.ts'
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import type { CredentialOrigin, DelegatedToken, WorkPlace } from '../../kernel/identity/delegation.ts'
import type { CredentialClaims, IdentityProvider } from '../../kernel/identity/identity.ts'
import { roleCalls, toolAggregator } from '../../role-calls.ts'
import type {
  DelegatedClaims,
  Delegations,
  DelegationTargets,
  PresentedPrincipal,
  PrincipalRegister,
  VerifiedCredential,
} from '../../roles/site/delegation/model.ts'
import { findOrigin } from './find-origin.ts'
import { tokenCache } from './token-cache.ts'

/** Exchanges a token of the identity provider for one that a service accepts. */
export type ProviderExchange = (subject_token: string, service: string) => Promise<DelegatedToken | Refusal>

export type DelegationOptions = {
  readonly siteName: string
  readonly register: PrincipalRegister
  readonly grant_life_s: number
  /** By the audience of a service, the roles that may request tokens for it. */
  readonly audiences: Readonly<Record<string, readonly string[]>>
  /** Roles of the site that offer tools. */
  readonly tool_roles: readonly string[]
  readonly providerFor: (role: string) => IdentityProvider
  readonly issuer: OfflineIssuer
  readonly tokenKeys: () => readonly TokenKey[]
  readonly revocations: Revocations
  /** Whether the identity provider of the profile issued the token. */
  readonly isOfProvider: (token: string) => boolean
  readonly exchange: ProviderExchange | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Why a grant is refused, for the role that presents it. */
const grantFaults: Readonly<Record<string, string>> = {
  revoked: 'the principal of the stored work was revoked, or the token with which it was stored',
  expired: 'the grant of the stored work has expired; store the work again',
  wrong_audience: 'the grant belongs to another role',
  key_revoked: 'the key that sealed the grant was revoked; store the work again',
}

export function siteDelegations(options: DelegationOptions): Delegations {
  const { register, grant_life_s, issuer, siteName, exchange, now } = options
  const providers = new Map<string, IdentityProvider>()
  const providerFor = (role: string): IdentityProvider => {
    const provider = providers.get(role) ?? options.providerFor(role)
    providers.set(role, provider)
    return provider
  }
  const targets = new Map<string, DelegationTargets>()
  const targetsOf = (role: string): DelegationTargets => {
    const known = targets.get(role) ?? findTargets(role, options)
    targets.set(role, known)
    return known
  }
  return {
    register,
    grant_life_s,
    targetsOf,
    verify: (role, presented) =>
      presented.grant === undefined
        ? verifyCredential(options, providerFor(role), presented)
        : verifyGrant(options, role, presented.grant, presented.stored_at),
    async seal(role, work, claims, exp) {
      const aud = grantAudienceUrn(siteName, role)
      return (await issuer.mint({ ...buildClaims(role, claims, aud), work }, grant_life_s, exp)).token
    },
    async mint(role, claims, audience, exp) {
      const aud = 'role' in audience ? roleAudienceUrn(siteName, audience.role) : audience.service
      const minted = await issuer.mint(buildClaims(role, claims, aud), exp - Math.floor(now() / 1_000), exp)
      return { token: minted.token, expires_ts: minted.exp * 1_000 }
    },
    isExchangedAbroad: ({ subject_token }) =>
      exchange !== undefined && subject_token !== undefined && options.isOfProvider(subject_token),
    async exchangeAbroad(subject_token, service) {
      if (!exchange) throw new TypeError('the profile names no client of the identity provider')
      return await exchange(subject_token, service)
    },
    reuse: tokenCache(now),
  }
}

function findTargets(role: string, { audiences, tool_roles }: DelegationOptions): DelegationTargets {
  const requested = [...(roleCalls.get(role) ?? [])].map((address) => address.slice(0, address.indexOf('.')))
  const services = Object.entries(audiences).filter(([, roles]) => roles.includes(role))
  const aggregated = role === toolAggregator ? tool_roles : []
  return { roles: new Set([...requested, ...aggregated]), services: new Set(services.map(([service]) => service)) }
}

function buildClaims(
  role: string,
  { subject, tenant_id, roles, clearance, act, derived_from, origin, grant_exp }: DelegatedClaims,
  aud: string,
) {
  return {
    sub: subject,
    tenant_id,
    roles: [...roles],
    ...(clearance ? { clearance } : {}),
    client_id: `role:${role}`,
    aud,
    ...(act ? { act } : {}),
    derived_from: [...derived_from],
    origin,
    ...(grant_exp === undefined ? {} : { grant_exp }),
  }
}

async function verifyCredential(
  options: DelegationOptions,
  provider: IdentityProvider,
  { subject_token, certificate }: PresentedPrincipal,
): Promise<VerifiedCredential | Refusal> {
  const der = certificate === undefined ? undefined : { der: Buffer.from(certificate, 'base64url') }
  const verified = await provider.verify(subject_token, der)
  if (!verified) return refuse('forbidden', 'the credential of the caller is not valid any more')
  if (verified.tenant_id === '*') return refuse('forbidden', 'nobody acts in the name of a role of the site')
  const origin =
    subject_token === undefined ? { source: 'certificate' as const } : findOrigin(options, verified, subject_token)
  return toVerifiedCredential(verified, origin)
}

async function verifyGrant(
  { tokenKeys, revocations, siteName, now }: DelegationOptions,
  role: string,
  grant: string,
  stored_at: WorkPlace | undefined,
): Promise<VerifiedCredential | Refusal> {
  const audience = grantAudienceUrn(siteName, role)
  const expected = { issuer: siteIssuerUrn(siteName), audience, now: now(), skew_s: 0 }
  const verified = await verifyIssuedToken(grant, (token) => verifyToken(token, tokenKeys(), expected), revocations)
  if ('refused' in verified) return refuse('forbidden', grantFaults[verified.refused] ?? 'the grant is not valid')
  if (!verified.origin) return refuse('forbidden', 'the grant is not valid')
  const { work, exp } = verified
  if (!work) return refuse('forbidden', 'the grant is bound to no stored work; store the work again')
  // As a sealed secret: whoever edits the store could act by the grant of a stronger person's work.
  if (work.collection !== stored_at?.collection || work.id !== stored_at.id)
    return refuse('forbidden', 'the grant belongs to other stored work; store the work again')
  return { ...toVerifiedCredential(verified, verified.origin), grant_exp: exp }
}

function toVerifiedCredential(claims: CredentialClaims, origin: CredentialOrigin): VerifiedCredential {
  const { sub, tenant_id, roles, clearance, jti, exp, act } = claims
  const { derived_from, grant_exp } = claims as Partial<IssuedClaims>
  const rights = { subject: sub, tenant_id, roles, ...(clearance ? { clearance } : {}) }
  return { ...rights, jti, exp, act, derived_from, origin, grant_exp }
}

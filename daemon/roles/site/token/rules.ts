// Decides token requests: client credentials (RFC 6749 section 4.4) and token exchange (RFC 8693).
import type { CredentialOrigin } from '../../../kernel/identity/delegation.ts'
import type { Actor } from '../../../kernel/identity/identity.ts'
import { authenticateClient } from './client/rules.ts'
import {
  type DiscoveryDocument,
  type GrantedClaims,
  grantTypes,
  type OAuthClient,
  type OAuthError,
  type SubjectToken,
  type TokenRequest,
  type TokenResponse,
  tokenTypes,
} from './model.ts'

/** Longest chain of actors: beyond it a token would outgrow what a header carries. */
const maxActors = 8

export type TokenGrantRequest = {
  readonly request: TokenRequest
  /** The `Authorization` header. */
  readonly authorization?: string | undefined
}

/** Audiences that this issuer may issue for: itself first, then those of the profile. */
export type IssuerTerms = {
  readonly clients: readonly OAuthClient[]
  readonly audiences: readonly [string, ...string[]]
  /** Of a token, in seconds. */
  readonly lifetime_s: number
}

/** A decision to issue: mint `claims`, valid for `expires_in` seconds and never beyond `exp` (seconds since 1970). */
export type TokenGrant = {
  readonly claims: GrantedClaims
  readonly expires_in: number
  readonly exp: number
  readonly issued_token_type?: typeof tokenTypes.access_token
}

/** The claims of a token of this issuer; undefined when it is foreign, expired or revoked. */
export type SubjectVerifier = (token: string) => Promise<SubjectToken | undefined>

/**
 * Decides a token request; `now` in epoch milliseconds. Pure except for `verifySubject`, which is called only for
 * known clients.
 */
export async function decideGrant(
  input: TokenGrantRequest,
  terms: IssuerTerms,
  now: number,
  verifySubject: SubjectVerifier,
): Promise<TokenGrant | OAuthError> {
  const { request } = input
  const client = authenticateClient(request, input.authorization, terms.clients)
  if ('error' in client) return client
  if (request.grant_type === undefined) return oauthRefusal('invalid_request', 'grant_type is required')
  const audience = request.audience ?? terms.audiences[0]
  if (request.resource !== undefined || !terms.audiences.includes(audience)) {
    return oauthRefusal('invalid_target', 'tokens are not issued for this audience')
  }
  const now_s = Math.floor(now / 1000)
  if (request.grant_type === grantTypes.client_credentials)
    return decideClientGrant(request, client, audience, terms, now_s)
  if (request.grant_type !== grantTypes.token_exchange) {
    return oauthRefusal('unsupported_grant_type', 'client credentials and token exchange are supported')
  }
  const objection = checkExchange(request, client)
  if (objection) return objection
  const subject = await verifySubject(request.subject_token?.reveal() ?? '')
  if (!subject) return oauthRefusal('invalid_grant', 'the subject token is not valid')
  return decideExchangeGrant(request, client, subject, audience, terms, now_s)
}

function decideClientGrant(
  request: TokenRequest,
  client: OAuthClient,
  audience: string,
  terms: Pick<IssuerTerms, 'lifetime_s'>,
  now_s: number,
): TokenGrant | OAuthError {
  const roles = narrowRoles(client.roles, request.scope)
  if (!roles) return oauthRefusal('invalid_scope', 'the client has none of these roles')
  const claims: GrantedClaims = {
    sub: client.subject,
    tenant_id: client.tenant_id,
    roles,
    ...(client.clearance === undefined ? {} : { clearance: client.clearance }),
    client_id: client.client_id,
    aud: audience,
    origin: { source: 'client', client_id: client.client_id },
  }
  return { claims, expires_in: terms.lifetime_s, exp: now_s + terms.lifetime_s }
}

function checkExchange(request: TokenRequest, client: OAuthClient): OAuthError | undefined {
  if (!client.may_exchange) return oauthRefusal('unauthorized_client', 'this client may not exchange tokens')
  if (!request.subject_token?.reveal()) return oauthRefusal('invalid_request', 'subject_token is required')
  if (!isTokenType(request.subject_token_type)) {
    return oauthRefusal('invalid_request', 'subject_token_type must be an access token or a JWT')
  }
  if (request.requested_token_type !== undefined && !isTokenType(request.requested_token_type)) {
    return oauthRefusal('invalid_request', 'only access tokens are issued')
  }
  if (request.actor_token !== undefined || request.actor_token_type !== undefined) {
    return oauthRefusal('invalid_request', 'the authenticated client is the actor; actor_token is not supported')
  }
  return undefined
}

/** The same subject, tenant and clearance, at most the same roles, never longer: only the actor is added. */
function decideExchangeGrant(
  request: TokenRequest,
  client: OAuthClient,
  subject: SubjectToken,
  audience: string,
  terms: Pick<IssuerTerms, 'lifetime_s'>,
  now_s: number,
): TokenGrant | OAuthError {
  if (client.tenant_id !== '*' && client.tenant_id !== subject.tenant_id) {
    return oauthRefusal('invalid_grant', 'the subject token is not valid')
  }
  const expires_in = Math.min(terms.lifetime_s, subject.exp - now_s)
  if (expires_in < 1) return oauthRefusal('invalid_grant', 'the subject token is not valid')
  const derived_from = [...(subject.derived_from ?? []), subject.jti]
  if (countActors(subject.act) >= maxActors || derived_from.length > maxActors) {
    return oauthRefusal('invalid_grant', 'the subject token has been exchanged too often')
  }
  const roles = narrowRoles(subject.roles, request.scope)
  if (!roles) return oauthRefusal('invalid_scope', 'the subject has none of these roles')
  const claims: GrantedClaims = {
    sub: subject.sub,
    tenant_id: subject.tenant_id,
    roles,
    ...(subject.clearance === undefined ? {} : { clearance: subject.clearance }),
    client_id: client.client_id,
    aud: audience,
    act: { sub: client.subject, ...(subject.act ? { act: subject.act } : {}) },
    derived_from,
    origin: addExchanger(subject.origin, client.client_id),
  }
  return { claims, expires_in, exp: now_s + expires_in, issued_token_type: tokenTypes.access_token }
}

function addExchanger(origin: CredentialOrigin, client_id: string): CredentialOrigin {
  // A certificate is not a subject token.
  if (origin.source === 'certificate') return origin
  return { ...origin, exchanged_by: [...(origin.exchanged_by ?? []), client_id] }
}

/** The response for a grant whose token has been minted. */
export function tokenResponseOf(decided: TokenGrant, access_token: string): TokenResponse {
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: decided.expires_in,
    scope: decided.claims.roles.join(' '),
    ...(decided.issued_token_type ? { issued_token_type: decided.issued_token_type } : {}),
  }
}

/** `base` is the site role's own URL, without a slash at its end; `roles` are the names that a scope may hold. */
export function discoveryOf(
  issuer: string,
  base: string,
  paths: { token: string; jwks: string },
  roles: string[],
): DiscoveryDocument {
  return {
    issuer,
    token_endpoint: `${base}${paths.token}`,
    jwks_uri: `${base}${paths.jwks}`,
    grant_types_supported: Object.values(grantTypes),
    response_types_supported: [],
    scopes_supported: roles,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  }
}

/** The held roles that `scope` requests, all of them without a scope; undefined when none is left. */
function narrowRoles(roles_held: readonly string[], scope: string | undefined): string[] | undefined {
  if (scope === undefined) return [...roles_held]
  const requested = new Set(scope.split(' ').filter((word) => word !== ''))
  const roles = roles_held.filter((role) => requested.has(role))
  return roles.length > 0 ? roles : undefined
}

function isTokenType(type: string | undefined): boolean {
  return Object.values<string | undefined>(tokenTypes).includes(type)
}

function countActors(act: Actor | undefined): number {
  return act ? 1 + countActors(act.act) : 0
}

function oauthRefusal(error: OAuthError['error'], error_description: string): OAuthError {
  return { error, error_description }
}

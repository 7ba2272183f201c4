// The shapes of the token endpoint: RFC 6749 requests and errors, RFC 8693 exchange, RFC 8414 metadata, RFC 7517 keys.
import * as z from 'zod'
import type { CredentialOrigin } from '../../../kernel/identity/delegation.ts'
import type { Actor, credentialClaims } from '../../../kernel/identity/identity.ts'
import { clearance } from '../../../kernel/label/label.ts'
import { secretText } from '../../../kernel/secret/secret-text.ts'

const optionalText = (max: number) => z.string().max(max).optional()

/**
 * The form of a token request. All fields are optional, since a missing parameter is answered with an OAuth error.
 * Unknown parameters are ignored (RFC 6749 section 3.2), and a repeated one fails here.
 */
export const tokenRequest = z.object({
  grant_type: optionalText(128),
  client_id: optionalText(256),
  client_secret: secretText(1_024).optional(),
  scope: optionalText(2_048),
  audience: optionalText(256),
  resource: optionalText(2_048),
  requested_token_type: optionalText(256),
  subject_token: secretText(8_192).optional(),
  subject_token_type: optionalText(256),
  actor_token: secretText(8_192).optional(),
  actor_token_type: optionalText(256),
})
export type TokenRequest = z.infer<typeof tokenRequest>

export const tokenTypes = {
  access_token: 'urn:ietf:params:oauth:token-type:access_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
} as const

export const grantTypes = {
  client_credentials: 'client_credentials',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
} as const

export const tokenResponse = z
  .strictObject({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().min(1).meta({ description: 'Seconds' }),
    scope: z.string().meta({ description: 'The roles granted, separated by spaces' }),
    issued_token_type: z.literal(tokenTypes.access_token).optional(),
  })
  .meta({ id: 'TokenResponse', description: 'An access token' })
export type TokenResponse = z.infer<typeof tokenResponse>

const oauthErrorCode = z.enum([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
])

export const oauthError = z
  .strictObject({ error: oauthErrorCode, error_description: z.string() })
  .meta({ id: 'OAuthError', description: 'The reason why no token was issued (RFC 6749 section 5.2)' })
export type OAuthError = z.infer<typeof oauthError>

/** A client of the token endpoint. Its secret is random (at least 128 bits), so a plain digest protects it. */
export const oauthClient = z.strictObject({
  client_id: z.string().min(1).max(256),
  /** SHA-256 of the secret, lower-case hexadecimal. */
  secret_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  subject: z.string().min(1).max(256),
  tenant_id: z.string().min(1).max(128),
  roles: z.array(z.string().min(1).max(64)).max(32),
  clearance: clearance.optional(),
  may_exchange: z.boolean().default(false),
})
export type OAuthClient = z.infer<typeof oauthClient>

/** A verified token, from which an exchange starts. */
export type SubjectToken = z.infer<typeof credentialClaims> & {
  readonly derived_from?: readonly string[] | undefined
  readonly origin: CredentialOrigin
}

/** The claims for the issuer to mint. */
export type GrantedClaims = {
  sub: string
  tenant_id: string
  roles: string[]
  clearance?: z.infer<typeof clearance>
  client_id: string
  aud: string
  act?: Actor
  derived_from?: string[]
  /** What the rights are compared with when a role acts for the subject. */
  origin: CredentialOrigin
}

/** RFC 8414; `issuer` is the site's URN, since an air-gapped site has no name that every reader could resolve. */
export const discoveryDocument = z
  .strictObject({
    issuer: z.string(),
    token_endpoint: z.string(),
    jwks_uri: z.string(),
    grant_types_supported: z.array(z.string()),
    response_types_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
  })
  .meta({ id: 'AuthorizationServerMetadata', description: 'Metadata of the token issuer' })
export type DiscoveryDocument = z.infer<typeof discoveryDocument>

export const jwks = z
  .strictObject({
    keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string(), use: z.literal('sig') })),
  })
  .meta({ id: 'Jwks', description: 'The public keys that tokens are verified with' })

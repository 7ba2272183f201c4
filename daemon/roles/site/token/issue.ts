// The OAuth token endpoint: client credentials and token exchange, for sites without an identity provider.
import { Refusal } from '../../../kernel/error/errors.ts'
import { operation, RawResponse } from '../../../kernel/operation/operation.ts'
import { failedAttemptsPart, issuerPart } from '../parts.ts'
import { readClaimedClient } from './client/rules.ts'
import { type OAuthError, oauthError, tokenRequest, tokenResponse } from './model.ts'
import { decideGrant, tokenResponseOf } from './rules.ts'

export const issue = operation({
  summary: 'Issue a token to a client (OAuth 2.0 client credentials, RFC 8693 token exchange)',
  method: 'POST',
  path: '/oauth2/token',
  input: tokenRequest,
  output: tokenResponse,
  // RFC 6749 section 5.2 defines the error response.
  otherwise: { 400: oauthError, 401: oauthError },
  errors: ['rate_limited', 'unavailable'],
  allow: 'public',
  consumes: 'application/x-www-form-urlencoded',
  max_body_bytes: 65_536,

  async run(call, request) {
    const issuer = call.part(issuerPart)
    const attempts = call.part(failedAttemptsPart)
    const claimed = readClaimedClient(request, call.authorization)
    const wait_s = claimed === undefined ? 0 : await attempts.wait_s(claimed)
    if (wait_s > 0) return refuseTooManyAttempts(wait_s)
    const terms = {
      ...{ clients: issuer.clients, lifetime_s: issuer.lifetime_s },
      audiences: [issuer.audience] as [string],
    }
    const decided = await decideGrant(
      { request, authorization: call.authorization },
      terms,
      call.now(),
      issuer.verifySubject,
    )
    if ('error' in decided) {
      if (decided.error !== 'invalid_client') return oauthErrorReply(decided, 400)
      const longer_s = await attempts.recordFailure(claimed)
      return longer_s > 0 ? refuseTooManyAttempts(longer_s) : oauthErrorReply(decided, 401)
    }
    const token = await issuer.mint(decided.claims, decided.expires_in, decided.exp)
    const event = call.audited('site.token.issue', decided.claims.sub, {
      client_id: decided.claims.client_id,
      roles: decided.claims.roles,
    })
    await call.record([{ ...event, subject: decided.claims.client_id, tenant_id: decided.claims.tenant_id }])
    return tokenResponseOf(decided, token)
  },
})

function oauthErrorReply(decided: OAuthError, status: 400 | 401): RawResponse {
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="platform"' } : {}
  return new RawResponse('application/json', JSON.stringify(decided), headers, status)
}

function refuseTooManyAttempts(wait_s: number): Refusal {
  return new Refusal('rate_limited', 'too many failed attempts to authenticate; wait before the next one', [], wait_s)
}

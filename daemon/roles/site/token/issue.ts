// The OAuth token endpoint: client credentials and token exchange, so that a site with no identity provider is complete.
import { operation, Reply } from '../../../kernel/operation.ts'
import { issuerPart } from '../parts.ts'
import { oauthError, tokenRequest, tokenResponse } from './model.ts'
import { grant, tokenResponseOf } from './rules.ts'

export const issue = operation({
  summary: 'Issue a token to a client (OAuth 2.0 client credentials, RFC 8693 token exchange)',
  method: 'POST',
  path: '/oauth2/token',
  input: tokenRequest,
  output: tokenResponse,
  // RFC 6749 section 5.2 says how a client is told why there is no token.
  otherwise: { 400: oauthError, 401: oauthError },
  errors: ['unavailable'],
  allow: 'public',
  consumes: 'application/x-www-form-urlencoded',
  max_body_bytes: 65_536,

  async run(call, request) {
    const issuer = call.part(issuerPart)
    const terms = { clients: issuer.clients, audiences: [issuer.audience] as [string] }
    const decided = await grant({ request, authorization: call.authorization }, terms, call.now(), issuer.verifySubject)
    if ('error' in decided) {
      const status = decided.error === 'invalid_client' ? 401 : 400
      const asked = status === 401 ? { 'WWW-Authenticate': 'Basic realm="platform"' } : {}
      return new Reply('application/json', JSON.stringify(decided), asked, status)
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

// Grants of the token endpoint never exceed the presented credentials in roles, lifetime or tenant.
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import {
  grantTypes,
  type OAuthClient,
  type OAuthError,
  oauthClient,
  oauthError,
  type SubjectToken,
  tokenRequest,
  tokenResponse,
  tokenTypes,
} from './model.ts'
import { decideGrant, discoveryOf, type TokenGrant, tokenResponseOf } from './rules.ts'

const site = 'urn:platform:site:alpha'
const upstream = 'https://tools.example'
const now = Date.parse('2026-01-01T12:00:00.900Z')
const now_s = Math.floor(now / 1000)
const gateway: OAuthClient = oauthClient.parse({
  client_id: 'gateway',
  secret_sha256: sha256('secret'),
  subject: 'svc:gateway',
  tenant_id: 'alpha',
  roles: ['service', 'operator'],
  may_exchange: true,
})
const reader: OAuthClient = { ...gateway, client_id: 'reader', may_exchange: false }
const bravo: OAuthClient = { ...gateway, client_id: 'bravo', tenant_id: 'bravo' }
const anyTenantClient: OAuthClient = { ...gateway, client_id: 'everywhere', tenant_id: '*' }
const terms = {
  clients: [gateway, reader, bravo, anyTenantClient],
  audiences: [site, upstream] as const,
  lifetime_s: 3_600,
}

const ada: SubjectToken = {
  sub: 'ada',
  tenant_id: 'alpha',
  roles: ['analyst', 'auditor'],
  clearance: { level: 'SECRET', categories: ['A'], nationality: 'NL' },
  jti: 'tok_ada',
  exp: now_s + 600,
  origin: { source: 'token' },
}
const exchangeForm = {
  client_id: 'gateway',
  client_secret: 'secret',
  grant_type: grantTypes.token_exchange,
  subject_token: 'ada-token',
  subject_token_type: tokenTypes.access_token,
}

function requestGrant(
  form: Record<string, unknown>,
  subject: SubjectToken | undefined = ada,
): Promise<TokenGrant | OAuthError> {
  const verifySubject = async (token: string) => (token === 'ada-token' ? subject : undefined)
  return decideGrant(
    { request: tokenRequest.parse(form) },
    { ...terms, audiences: [...terms.audiences] },
    now,
    verifySubject,
  )
}
const requestExchange = (change: Record<string, unknown> = {}, subject?: SubjectToken) =>
  requestGrant({ ...exchangeForm, ...change }, subject)

describe('client credentials', () => {
  const form = { client_id: 'gateway', client_secret: 'secret', grant_type: 'client_credentials' }

  test('give the client its own subject, tenant and roles for an hour', async () => {
    expect(await requestGrant(form)).toEqual({
      claims: {
        sub: 'svc:gateway',
        tenant_id: 'alpha',
        roles: ['service', 'operator'],
        client_id: 'gateway',
        aud: site,
        origin: { source: 'client', client_id: 'gateway' },
      },
      expires_in: 3600,
      exp: now_s + 3600,
    })
  })

  test('a scope narrows and never widens', async () => {
    expect(await requestGrant({ ...form, scope: 'service admin' })).toMatchObject({ claims: { roles: ['service'] } })
    expect(await requestGrant({ ...form, scope: 'admin' })).toMatchObject({ error: 'invalid_scope' })
    expect(await requestGrant({ ...form, scope: ' ' })).toMatchObject({ error: 'invalid_scope' })
  })
})

describe('exchange', () => {
  test('keeps subject, tenant, clearance and roles, adds the client as actor, and names the original token', async () => {
    expect(await requestExchange()).toEqual({
      claims: {
        sub: 'ada',
        tenant_id: 'alpha',
        roles: ['analyst', 'auditor'],
        clearance: ada.clearance,
        client_id: 'gateway',
        aud: site,
        act: { sub: 'svc:gateway' },
        derived_from: ['tok_ada'],
        origin: { source: 'token', exchanged_by: ['gateway'] },
      },
      expires_in: 600,
      exp: ada.exp,
      issued_token_type: tokenTypes.access_token,
    })
  })

  test('lives no longer than the subject token, nor than an hour', async () => {
    expect(await requestExchange({}, { ...ada, exp: now_s + 86_400 })).toMatchObject({ exp: now_s + 3600 })
    expect(await requestExchange({}, { ...ada, exp: now_s + 1 })).toMatchObject({ exp: now_s + 1, expires_in: 1 })
    expect(await requestExchange({}, { ...ada, exp: now_s })).toMatchObject({ error: 'invalid_grant' })
    expect(await requestExchange({}, { ...ada, exp: now_s - 30 })).toMatchObject({ error: 'invalid_grant' })
  })

  test('takes no role from the client, and none that the subject lacks', async () => {
    expect(await requestExchange({ scope: 'analyst service' })).toMatchObject({ claims: { roles: ['analyst'] } })
    expect(await requestExchange({ scope: 'service' })).toMatchObject({ error: 'invalid_scope' })
  })

  test('keeps the whole chain of actors, up to eight', async () => {
    const origin = { source: 'client' as const, client_id: 'etl', exchanged_by: ['b', 'a'] }
    const chained = { ...ada, act: { sub: 'svc:a', act: { sub: 'svc:b' } }, derived_from: ['tok_1', 'tok_2'], origin }
    expect(await requestExchange({}, chained)).toMatchObject({
      claims: {
        origin: { ...origin, exchanged_by: ['b', 'a', 'gateway'] },
        act: { sub: 'svc:gateway', act: { sub: 'svc:a', act: { sub: 'svc:b' } } },
        derived_from: ['tok_1', 'tok_2', 'tok_ada'],
      },
    })
    const long = { ...ada, derived_from: Array.from({ length: 8 }, (_, at) => `tok_${at}`) }
    expect(await requestExchange({}, long)).toMatchObject({ error: 'invalid_grant' })
  })

  test('needs a client with may_exchange, and a subject of its tenant', async () => {
    expect(await requestExchange({ client_id: 'reader' })).toMatchObject({ error: 'unauthorized_client' })
    expect(await requestExchange({ client_id: 'bravo' })).toMatchObject({ error: 'invalid_grant' })
    expect(await requestExchange({ client_id: 'everywhere' })).toMatchObject({ claims: { tenant_id: 'alpha' } })
    expect(await requestExchange({}, { ...ada, tenant_id: '*' })).toMatchObject({ error: 'invalid_grant' })
  })

  test('an invalid subject token is an invalid grant, for every reason', async () => {
    expect(await requestExchange({ subject_token: 'forged' })).toEqual(await requestExchange({ client_id: 'bravo' }))
  })

  const malformed: [string, Record<string, unknown>][] = [
    ['no subject token', { subject_token: undefined }],
    ['an empty one', { subject_token: '' }],
    ['no type', { subject_token_type: undefined }],
    ['a refresh token', { subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }],
    ['a request for a SAML assertion', { requested_token_type: 'urn:ietf:params:oauth:token-type:saml2' }],
    ['an actor token', { actor_token: 'x', actor_token_type: tokenTypes.jwt }],
  ]
  test.each(malformed)('%s is an invalid request', async (_, change) => {
    const answer = await requestExchange(change)
    expect(oauthError.parse(answer).error).toBe('invalid_request')
  })

  test('the token type may be named as a JWT', async () => {
    const types = { subject_token_type: tokenTypes.jwt, requested_token_type: tokenTypes.jwt }
    expect(await requestExchange(types)).toMatchObject({ issued_token_type: tokenTypes.access_token })
  })
})

test('audiences are those of the site; another, or a resource, is an invalid target', async () => {
  expect(await requestExchange({ audience: upstream })).toMatchObject({ claims: { aud: upstream } })
  expect(await requestExchange({ audience: 'urn:platform:site:bravo' })).toMatchObject({ error: 'invalid_target' })
  expect(await requestExchange({ resource: 'https://tools.example/' })).toMatchObject({ error: 'invalid_target' })
})

test('the grant type is required, and must be one of two', async () => {
  expect(await requestExchange({ grant_type: undefined })).toMatchObject({ error: 'invalid_request' })
  for (const grant_type of ['password', 'authorization_code', 'refresh_token', '__proto__']) {
    expect(await requestExchange({ grant_type })).toMatchObject({ error: 'unsupported_grant_type' })
  }
})

test('the subject token of an unauthenticated client is not verified', async () => {
  const form = tokenRequest.parse({ ...exchangeForm, client_secret: 'wrong' })
  const never = async () => {
    throw new Error('looked at')
  }
  expect(await decideGrant({ request: form }, { ...terms, audiences: [site] }, now, never)).toMatchObject({
    error: 'invalid_client',
  })
})

test('response and metadata match their schemas', async () => {
  const decided = await requestExchange({ scope: 'auditor analyst' })
  if ('error' in decided) throw new Error(decided.error)
  expect(tokenResponse.parse(tokenResponseOf(decided, 'a.b.c'))).toMatchObject({
    scope: 'analyst auditor',
    expires_in: 600,
  })
  const document = discoveryOf(site, 'https://alpha.example:8420', { token: '/oauth/token', jwks: '/jwks' }, ['admin'])
  expect(document).toMatchObject({
    issuer: site,
    token_endpoint: 'https://alpha.example:8420/oauth/token',
    response_types_supported: [],
  })
  expect(tokenRequest.safeParse({ grant_type: ['client_credentials', 'password'] }).success).toBe(false)
})

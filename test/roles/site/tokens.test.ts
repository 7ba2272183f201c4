// The token endpoint, its keys and its metadata, as an OAuth client uses them over HTTP.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  discoveryDocument,
  grantTypes,
  jwks,
  oauthError,
  tokenResponse,
  tokenTypes,
} from '../../../daemon/roles/site/token/model.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import type { ExactResponse } from '../../support/http/send-exact-request.ts'
import {
  type SingleClusterSite,
  siteClientSecret,
  startSingleClusterSite,
} from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
beforeAll(async () => {
  site = await startSingleClusterSite()
})
afterAll(() => site?.close())

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const postCredentials = { client_id: 'gateway', client_secret: siteClientSecret }
const buildBasicHeader = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

function postToTokenEndpoint(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  at: SingleClusterSite = site,
): Promise<ExactResponse> {
  const body = new URLSearchParams(fields).toString()
  return at.request('site', { method: 'POST', path: '/oauth2/token', body, headers: { ...form, ...headers } })
}

async function requestGrant(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) {
  const answer = await postToTokenEndpoint(fields, headers)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' })
  return tokenResponse.parse(answer.json)
}

async function requestRefusal(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) {
  const answer = await postToTokenEndpoint(fields, headers)
  const { error } = oauthError.parse(answer.json)
  expect(answer.status, answer.text).toBe(error === 'invalid_client' ? 401 : 400)
  expect(answer.headers['www-authenticate']).toBe(error === 'invalid_client' ? 'Basic realm="platform"' : undefined)
  return error
}

const parseClaims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const exchange = {
  ...postCredentials,
  grant_type: grantTypes.token_exchange,
  subject_token_type: tokenTypes.access_token,
}

describe('client credentials', () => {
  test('by the form', async () => {
    const { access_token, scope, expires_in } = await requestGrant({
      ...postCredentials,
      grant_type: 'client_credentials',
    })
    expect({ scope, expires_in }).toEqual({ scope: 'service auditor', expires_in: 3_600 })
    expect(parseClaims(access_token)).toMatchObject({ sub: 'svc:gateway', tenant_id: 'alpha', client_id: 'gateway' })
    const used = await site.request('consensus', { method: 'GET', path: '/api/v2/audit', token: access_token })
    expect(used.status).toBe(200)
  })

  test('states the lifetime that the token has, whatever the profile sets', async () => {
    for (const token_ttl_s of [900, 7_200]) {
      const other = await startSingleClusterSite({ identity: { token_ttl_s } })
      onTestFinished(() => other.close())
      const { json } = await postToTokenEndpoint({ ...postCredentials, grant_type: 'client_credentials' }, {}, other)
      const { access_token, expires_in } = tokenResponse.parse(json)
      const { iat, exp } = parseClaims(access_token)
      expect([expires_in, exp - iat]).toEqual([token_ttl_s, token_ttl_s])
    }
  })

  test('by HTTP Basic, narrowed by a scope', async () => {
    const { scope } = await requestGrant(
      { grant_type: 'client_credentials', scope: 'auditor' },
      buildBasicHeader('gateway', siteClientSecret),
    )
    expect(scope).toBe('auditor')
  })

  test('are refused in the words of OAuth', async () => {
    const grant_type = 'client_credentials'
    expect(await requestRefusal({ grant_type })).toBe('invalid_client')
    expect(await requestRefusal({ ...postCredentials, client_secret: 'wrong', grant_type })).toBe('invalid_client')
    expect(await requestRefusal({ grant_type }, buildBasicHeader('nobody', siteClientSecret))).toBe('invalid_client')
    expect(await requestRefusal({ grant_type }, { authorization: 'Basic !' })).toBe('invalid_client')
    expect(await requestRefusal({ grant_type }, { authorization: `Bearer ${await site.token()}` })).toBe(
      'invalid_client',
    )
    expect(
      await requestRefusal({ ...postCredentials, grant_type }, buildBasicHeader('gateway', siteClientSecret)),
    ).toBe('invalid_request')
    expect(await requestRefusal({ ...postCredentials })).toBe('invalid_request')
    expect(await requestRefusal({ ...postCredentials, grant_type: 'password' })).toBe('unsupported_grant_type')
    expect(await requestRefusal({ ...postCredentials, grant_type, scope: 'admin' })).toBe('invalid_scope')
    expect(await requestRefusal({ ...postCredentials, grant_type, audience: 'urn:elsewhere' })).toBe('invalid_target')
  })

  test('unknown parameters are ignored, repeated ones are not read', async () => {
    await requestGrant({ ...postCredentials, grant_type: 'client_credentials', surprise: '1' })
    const body = `${new URLSearchParams({ ...postCredentials, grant_type: 'client_credentials' })}&grant_type=password`
    expectProblem(await site.request('site', { method: 'POST', path: '/oauth2/token', body, headers: form }), [400])
  })
})

describe('token exchange', () => {
  test('keeps who the subject is, and names who acts', async () => {
    const subject_token = await site.token({ sub: 'ada', roles: ['analyst'], clearance: { level: 'SECRET' } })
    const { access_token, issued_token_type } = await requestGrant({ ...exchange, subject_token })
    expect(issued_token_type).toBe(tokenTypes.access_token)
    expect(parseClaims(access_token)).toMatchObject({
      sub: 'ada',
      roles: ['analyst'],
      clearance: { level: 'SECRET' },
      act: { sub: 'svc:gateway' },
      derived_from: [parseClaims(subject_token).jti],
    })
    const body = { jti: parseClaims(access_token).jti, reason: 'test' }
    const path = '/api/v2/site/token/revocation'
    const forbidden = await site.request('site', { method: 'POST', path, token: access_token, body })
    expectProblem(forbidden, [403])
  })

  test('is refused in the words of OAuth', async () => {
    const subject_token = await site.token({ roles: ['analyst'] })
    expect(await requestRefusal({ ...exchange })).toBe('invalid_request')
    expect(await requestRefusal({ ...exchange, subject_token: 'garbage' })).toBe('invalid_grant')
    expect(await requestRefusal({ ...exchange, subject_token: await site.token({ tenant_id: 'bravo' }) })).toBe(
      'invalid_grant',
    )
    expect(await requestRefusal({ ...exchange, subject_token, client_id: 'reader' })).toBe('unauthorized_client')
    expect(await requestRefusal({ ...exchange, subject_token, scope: 'admin' })).toBe('invalid_scope')
    expect(await requestRefusal({ ...exchange, subject_token, actor_token: subject_token })).toBe('invalid_request')
  })

  test('ends with the token that it came from, when that is revoked', async () => {
    const subject_token = await site.token({ roles: ['analyst'] })
    const { access_token } = await requestGrant({ ...exchange, subject_token })
    const read = (token: string) =>
      site.request('consensus', { method: 'GET', path: '/api/v2/consensus/session', token })
    expect((await read(access_token)).status).toBe(200)
    const admin = await site.token({ sub: 'root', roles: ['admin'] })
    const body = { jti: parseClaims(subject_token).jti, reason: 'lost' }
    const path = '/api/v2/site/token/revocation'
    expect((await site.request('site', { method: 'POST', path, token: admin, body })).status).toBe(200)
    expectProblem(await read(subject_token), [401])
    expectProblem(await read(access_token), [401])
    expect(await requestRefusal({ ...exchange, subject_token })).toBe('invalid_grant')
  })
})

describe('the documents that anyone may read', () => {
  test('the keys: public ones, for tokens alone', async () => {
    const { json } = await site.request('site', { method: 'GET', path: '/oauth2/jwks' })
    const { keys } = jwks.parse(json)
    expect(keys.map(({ kid }) => kid)).toEqual([site.tokenKey().public_key.kid])
    expect(JSON.stringify(keys)).not.toMatch(/"(d|p|q|dp|dq|qi|k|priv)":/)
  })

  test.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])('%s', async (path) => {
    const document = discoveryDocument.parse((await site.request('site', { method: 'GET', path })).json)
    expect(document).toMatchObject({
      issuer: 'urn:platform:site:alpha',
      grant_types_supported: Object.values(grantTypes),
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
    expect(new URL(document.token_endpoint).pathname).toBe('/oauth2/token')
    expect(new URL(document.jwks_uri).pathname).toBe('/oauth2/jwks')
  })
})

test('the audit records an issued token; no secret and no token is in it, nor in the log', async () => {
  const { access_token } = await requestGrant({ ...postCredentials, grant_type: 'client_credentials' })
  const token = await site.token({ sub: 'root', roles: ['auditor'] })
  const { text } = await site.request('site', { method: 'GET', path: '/api/v2/audit?action=site.token.issue', token })
  expect(text).toContain('"client_id":"gateway"')
  for (const secret of [siteClientSecret, access_token, token]) {
    expect(text).not.toContain(secret)
    expect(site.logged.join('\n')).not.toContain(secret)
  }
})

test('a client that guesses secrets has to wait, right or wrong; other clients do not', async () => {
  let passed_ms = 0
  const began = Date.now()
  const timed = await startSingleClusterSite({}, { now: () => began + passed_ms, monotonic: () => passed_ms })
  onTestFinished(() => timed.close())
  const wrong = { client_id: 'reader', client_secret: 'guessed', grant_type: grantTypes.client_credentials }
  const right = { ...wrong, client_secret: siteClientSecret }
  for (let n = 0; n < 20; n += 1) expect((await postToTokenEndpoint(wrong, {}, timed)).status).toBe(401)
  const answers = [await postToTokenEndpoint(wrong, {}, timed), await postToTokenEndpoint(right, {}, timed)]
  for (const answer of answers) {
    expect(expectProblem(answer, [429]).code).toBe('rate_limited')
    expect(answer.headers['retry-after']).toBe('60')
  }
  expect(
    (await postToTokenEndpoint({ grant_type: right.grant_type }, buildBasicHeader('reader', siteClientSecret), timed))
      .status,
  ).toBe(429)
  expect((await postToTokenEndpoint({ ...right, client_id: 'gateway' }, {}, timed)).status).toBe(200)
  passed_ms += 60_000
  expect((await postToTokenEndpoint(right, {}, timed)).status).toBe(200)
  expect((await postToTokenEndpoint(wrong, {}, timed)).status).toBe(401)
  expect((await postToTokenEndpoint(right, {}, timed)).status).toBe(200)
})

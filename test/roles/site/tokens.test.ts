// The token endpoint, its keys and its metadata, as an OAuth client meets them over HTTP.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  discoveryDocument,
  grantTypes,
  jwks,
  oauthError,
  tokenResponse,
  tokenTypes,
} from '../../../daemon/roles/site/token/model.ts'
import { problemIn } from '../../support/every-operation/problem-rules.ts'
import type { Heard } from '../../support/http-exchange.ts'
import { clientSecret, type SmallSite, smallSite } from '../../support/small-site.ts'

let site: SmallSite
beforeAll(async () => {
  site = await smallSite()
})
afterAll(() => site?.close())

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const post = { client_id: 'gateway', client_secret: clientSecret }
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

function ask(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  at: SmallSite = site,
): Promise<Heard> {
  const body = new URLSearchParams(fields).toString()
  return at.ask('site', { method: 'POST', path: '/oauth2/token', body, headers: { ...form, ...headers } })
}

async function granted(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) {
  const answer = await ask(fields, headers)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' })
  return tokenResponse.parse(answer.json)
}

async function refused(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) {
  const answer = await ask(fields, headers)
  const { error } = oauthError.parse(answer.json)
  expect(answer.status, answer.text).toBe(error === 'invalid_client' ? 401 : 400)
  expect(answer.headers['www-authenticate']).toBe(error === 'invalid_client' ? 'Basic realm="platform"' : undefined)
  return error
}

const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const exchange = { ...post, grant_type: grantTypes.token_exchange, subject_token_type: tokenTypes.access_token }

describe('client credentials', () => {
  test('by the form', async () => {
    const { access_token, scope, expires_in } = await granted({ ...post, grant_type: 'client_credentials' })
    expect({ scope, expires_in }).toEqual({ scope: 'service auditor', expires_in: 3_600 })
    expect(claimsIn(access_token)).toMatchObject({ sub: 'svc:gateway', tenant_id: 'alpha', client_id: 'gateway' })
    const used = await site.ask('consensus', { method: 'GET', path: '/api/v2/audit', token: access_token })
    expect(used.status).toBe(200)
  })

  test('by HTTP Basic, narrowed by a scope', async () => {
    const { scope } = await granted(
      { grant_type: 'client_credentials', scope: 'auditor' },
      basic('gateway', clientSecret),
    )
    expect(scope).toBe('auditor')
  })

  test('are refused in the words of OAuth', async () => {
    const grant_type = 'client_credentials'
    expect(await refused({ grant_type })).toBe('invalid_client')
    expect(await refused({ ...post, client_secret: 'wrong', grant_type })).toBe('invalid_client')
    expect(await refused({ grant_type }, basic('nobody', clientSecret))).toBe('invalid_client')
    expect(await refused({ grant_type }, { authorization: 'Basic !' })).toBe('invalid_client')
    expect(await refused({ grant_type }, { authorization: `Bearer ${await site.token()}` })).toBe('invalid_client')
    expect(await refused({ ...post, grant_type }, basic('gateway', clientSecret))).toBe('invalid_request')
    expect(await refused({ ...post })).toBe('invalid_request')
    expect(await refused({ ...post, grant_type: 'password' })).toBe('unsupported_grant_type')
    expect(await refused({ ...post, grant_type, scope: 'admin' })).toBe('invalid_scope')
    expect(await refused({ ...post, grant_type, audience: 'urn:elsewhere' })).toBe('invalid_target')
  })

  test('unknown parameters are ignored, repeated ones are not read', async () => {
    await granted({ ...post, grant_type: 'client_credentials', surprise: '1' })
    const body = `${new URLSearchParams({ ...post, grant_type: 'client_credentials' })}&grant_type=password`
    problemIn(await site.ask('site', { method: 'POST', path: '/oauth2/token', body, headers: form }), [400])
  })
})

describe('token exchange', () => {
  test('keeps who the subject is, and names who acts', async () => {
    const subject_token = await site.token({ sub: 'ada', roles: ['analyst'], clearance: { level: 'SECRET' } })
    const { access_token, issued_token_type } = await granted({ ...exchange, subject_token })
    expect(issued_token_type).toBe(tokenTypes.access_token)
    expect(claimsIn(access_token)).toMatchObject({
      sub: 'ada',
      roles: ['analyst'],
      clearance: { level: 'SECRET' },
      act: { sub: 'svc:gateway' },
      derived_from: [claimsIn(subject_token).jti],
    })
    const body = { jti: claimsIn(access_token).jti, reason: 'test' }
    const path = '/api/v2/site/token/revocation'
    const forbidden = await site.ask('site', { method: 'POST', path, token: access_token, body })
    problemIn(forbidden, [403])
  })

  test('is refused in the words of OAuth', async () => {
    const subject_token = await site.token({ roles: ['analyst'] })
    expect(await refused({ ...exchange })).toBe('invalid_request')
    expect(await refused({ ...exchange, subject_token: 'garbage' })).toBe('invalid_grant')
    expect(await refused({ ...exchange, subject_token: await site.token({ tenant_id: 'bravo' }) })).toBe(
      'invalid_grant',
    )
    expect(await refused({ ...exchange, subject_token, client_id: 'reader' })).toBe('unauthorized_client')
    expect(await refused({ ...exchange, subject_token, scope: 'admin' })).toBe('invalid_scope')
    expect(await refused({ ...exchange, subject_token, actor_token: subject_token })).toBe('invalid_request')
  })

  test('ends with the token that it came from, when that is revoked', async () => {
    const subject_token = await site.token({ roles: ['analyst'] })
    const { access_token } = await granted({ ...exchange, subject_token })
    const read = (token: string) => site.ask('consensus', { method: 'GET', path: '/api/v2/consensus/session', token })
    expect((await read(access_token)).status).toBe(200)
    const admin = await site.token({ sub: 'root', roles: ['admin'] })
    const body = { jti: claimsIn(subject_token).jti, reason: 'lost' }
    const path = '/api/v2/site/token/revocation'
    expect((await site.ask('site', { method: 'POST', path, token: admin, body })).status).toBe(200)
    problemIn(await read(subject_token), [401])
    problemIn(await read(access_token), [401])
    expect(await refused({ ...exchange, subject_token })).toBe('invalid_grant')
  })
})

describe('what anyone may read', () => {
  test('the keys: public ones, for tokens alone', async () => {
    const { json } = await site.ask('site', { method: 'GET', path: '/oauth2/jwks' })
    const { keys } = jwks.parse(json)
    expect(keys.map(({ kid }) => kid)).toEqual([site.tokenKey().public_key.kid])
    expect(JSON.stringify(keys)).not.toMatch(/"(d|p|q|dp|dq|qi|k|priv)":/)
  })

  test.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])('%s', async (path) => {
    const document = discoveryDocument.parse((await site.ask('site', { method: 'GET', path })).json)
    expect(document).toMatchObject({
      issuer: 'urn:platform:site:alpha',
      grant_types_supported: Object.values(grantTypes),
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
    expect(new URL(document.token_endpoint).pathname).toBe('/oauth2/token')
    expect(new URL(document.jwks_uri).pathname).toBe('/oauth2/jwks')
  })
})

test('what was issued is in the audit; no secret and no token is, nor in the log', async () => {
  const { access_token } = await granted({ ...post, grant_type: 'client_credentials' })
  const token = await site.token({ sub: 'root', roles: ['auditor'] })
  const { text } = await site.ask('site', { method: 'GET', path: '/api/v2/audit?action=site.token.issue', token })
  expect(text).toContain('"client_id":"gateway"')
  for (const secret of [clientSecret, access_token, token]) {
    expect(text).not.toContain(secret)
    expect(site.logged.join('\n')).not.toContain(secret)
  }
})

test('who guesses secrets has to wait, right or wrong; clients that nobody guesses for do not', async () => {
  let passed_ms = 0
  const began = Date.now()
  const timed = await smallSite({}, { now: () => began + passed_ms, monotonic: () => passed_ms })
  onTestFinished(() => timed.close())
  const wrong = { client_id: 'reader', client_secret: 'guessed', grant_type: grantTypes.client_credentials }
  const right = { ...wrong, client_secret: clientSecret }
  for (let n = 0; n < 20; n += 1) expect((await ask(wrong, {}, timed)).status).toBe(401)
  const answers = [await ask(wrong, {}, timed), await ask(right, {}, timed)]
  for (const answer of answers) {
    expect(problemIn(answer, [429]).code).toBe('rate_limited')
    expect(answer.headers['retry-after']).toBe('60')
  }
  expect((await ask({ grant_type: right.grant_type }, basic('reader', clientSecret), timed)).status).toBe(429)
  expect((await ask({ ...right, client_id: 'gateway' }, {}, timed)).status).toBe(200)
  passed_ms += 60_000
  expect((await ask(right, {}, timed)).status).toBe(200)
  expect((await ask(wrong, {}, timed)).status).toBe(401)
  expect((await ask(right, {}, timed)).status).toBe(200)
})

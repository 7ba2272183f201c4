// A site whose people come from an identity provider: what they may, what ends it, and what stays the site's own.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueToken } from '../../adapters/keys/jose/tokens.ts'
import { examineSite } from '../../daemon/offline/doctor/examine-site.ts'
import { inspectToken } from '../../daemon/offline/token/site-tokens.ts'
import { tokenResponse } from '../../daemon/roles/site/token/model.ts'
import {
  buildTokenClaims,
  type SingleClusterSite,
  siteClientSecret,
  startSingleClusterSite,
} from '../support/site/single-cluster-site.ts'
import {
  buildAdaClaims,
  createSigningKey,
  type LocalIssuer,
  type SigningKey,
  signToken,
  siteAudience,
  startLocalIssuer,
} from './local-issuer.ts'

let key: SigningKey
let provider: LocalIssuer
let site: SingleClusterSite
beforeAll(async () => {
  key = await createSigningKey('k')
  provider = await startLocalIssuer([key])
  site = await startSingleClusterSite({
    identity: { provider: 'oidc' },
    sso: { issuer: provider.issuer, audience: siteAudience, role_map: { examiner: ['analyst'], chief: ['admin'] } },
  })
}, 60_000)
afterAll(async () => {
  await site.close()
  provider.close()
})

/** Ada's token of this moment, each with an id of its own. */
const createToken = (change: Record<string, unknown> = {}) =>
  signToken(key, { ...buildAdaClaims(provider.issuer, Date.now()), jti: randomUUID(), ...change })
const listSessions = (bearer: string) =>
  site.request('consensus', { method: 'GET', path: '/api/v2/consensus/session', token: bearer })
const revokeToken = async (what: Record<string, unknown>) => {
  const chief = await createToken({ sub: 'chief', realm_access: { roles: ['chief'] } })
  const body = { ...what, reason: 'lost' }
  return site.request('site', { method: 'POST', path: '/api/v2/site/token/revocation', token: chief, body })
}

describe('the rights from a token of the provider', () => {
  test('is what the profile gives for its roles, at every role of the site', async () => {
    expect((await listSessions(await createToken())).status).toBe(200)
    expect(
      (await site.request('site', { method: 'GET', path: '/api/v2/site/peer', token: await createToken() })).status,
    ).toBe(403)
    for (const roles of [['unheard-of'], ['admin'], ['analyst'], ['__proto__'], []]) {
      expect((await listSessions(await createToken({ realm_access: { roles } }))).status, roles.join()).toBe(403)
    }
  })

  test('is nothing for another tenant at the site role', async () => {
    const chief = { realm_access: { roles: ['chief'] }, tenant_id: 'bravo' }
    const answer = await site.request('site', {
      method: 'GET',
      path: '/api/v2/site/peer',
      token: await createToken(chief),
    })
    expect(answer.status).toBe(403)
  })

  test('ends with the revocation of the token, or of its subject, on this site', async () => {
    const [one, other] = [await createToken({ jti: 'lost-one' }), await createToken({ sub: 'eve' })]
    expect((await listSessions(one)).status).toBe(200)
    expect((await listSessions(other)).status).toBe(200)
    expect((await revokeToken({ jti: 'lost-one' })).status).toBe(200)
    expect((await listSessions(one)).status).toBe(401)
    expect((await listSessions(other)).status).toBe(200)
    expect((await revokeToken({ subject: 'eve' })).status).toBe(200)
    expect((await listSessions(other)).status).toBe(401)
  })
})

describe('two issuers', () => {
  test('distinguishes issuers by the name in the token, and judges each by its own keys alone', async () => {
    const own = await site.token({ roles: ['analyst'] })
    expect((await listSessions(own)).status).toBe(200)
    const bySiteAsProvider = await issueToken(site.tokenKey(), {
      ...buildTokenClaims({ roles: ['analyst'] }, { iss: provider.issuer, aud: siteAudience }),
    })
    const byProviderAsSite = await signToken(key, buildTokenClaims({ roles: ['admin'] }))
    const byProviderUnderTheSitesName = await signToken(key, buildTokenClaims({ roles: ['admin'] }), {
      kid: site.tokenKey().public_key.kid,
    })
    expect((await listSessions(byProviderAsSite)).status).toBe(401)
    expect((await listSessions(byProviderUnderTheSitesName)).status).toBe(401)
    expect([401, 503]).toContain((await listSessions(bySiteAsProvider)).status)
  })

  test('a third one is nobody', async () => {
    expect((await listSessions(await createToken({ iss: 'https://idp.example' }))).status).toBe(401)
    expect((await listSessions(await createToken({ iss: undefined }))).status).toBe(401)
  })

  test('a provider’s token never speaks for a role of the site', async () => {
    const forged = { sub: 'role:consensus', tenant_id: '*', roles: ['service'], realm_access: undefined }
    expect((await listSessions(await createToken(forged))).status).toBe(401)
    expect((await listSessions(await createToken({ tenant_id: '*' }))).status).toBe(401)
  })
})

describe('exchange at the site’s token endpoint (RFC 8693)', () => {
  const exchange = (subject_token: string, client_id = 'gateway') =>
    site.request('site', {
      method: 'POST',
      path: '/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        client_id,
        client_secret: siteClientSecret,
        subject_token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      }).toString(),
    })

  test('turns a token of the provider into one of the site, with the client as its actor', async () => {
    const answer = await exchange(await createToken({ jti: 'first' }))
    expect(answer.status).toBe(200)
    const { access_token, expires_in, scope } = tokenResponse.parse(answer.json)
    expect(expires_in).toBeLessThanOrEqual(300)
    expect(scope).toBe('analyst')
    const claims = JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({
      iss: 'urn:platform:site:alpha',
      sub: 'ada',
      tenant_id: 'alpha',
      clearance: { level: 'SECRET', categories: ['A'] },
      act: { sub: 'svc:gateway' },
      derived_from: ['first'],
    })
    expect((await listSessions(access_token)).status).toBe(200)
    await revokeToken({ jti: 'first' })
    expect((await listSessions(access_token)).status).toBe(401)
  })

  test('is for clients that may, and for tokens that count', async () => {
    expect((await exchange(await createToken(), 'reader')).json).toMatchObject({ error: 'unauthorized_client' })
    expect((await exchange(await createToken({ aud: 'console' }))).json).toMatchObject({ error: 'invalid_grant' })
    expect((await exchange(await createToken({ exp: 1 }))).json).toMatchObject({ error: 'invalid_grant' })
    const stranger = await createSigningKey('k')
    const forged = await signToken(stranger, buildAdaClaims(provider.issuer, Date.now()))
    expect((await exchange(forged)).json).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('where an operator looks', () => {
  const healthOf = async () => {
    const answer = await site.request('consensus', { method: 'GET', path: '/health', token: await createToken() })
    const { dependencies } = answer.json as { dependencies: { name: string; state: string; detail: string }[] }
    return dependencies.find(({ name }) => name === 'identity provider')
  }
  const found = async () =>
    (await examineSite(site.folder, {}, Date.now(), () => undefined)).filter((f) => f.check === 'sso')

  test('health and doctor know of the provider', async () => {
    expect(await healthOf()).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^keys of \d+ s ago$/) })
    expect(await found()).toEqual([
      { code: 'sso.ok', check: 'sso', state: 'ok', detail: 'the identity provider has 1 usable keys' },
    ])
  })

  test('a token is inspected as the site judges it', async () => {
    const look = (text: string) => inspectToken(site.folder, {}, text, Date.now())
    expect(await look(await createToken())).toMatchObject({
      state: 'valid',
      claims: { iss: provider.issuer, sub: 'ada' },
    })
    expect(await look(await createToken({ aud: 'console' }))).toMatchObject({
      state: 'not valid',
      reason: 'wrong audience',
    })
    expect(await look(await createToken({ exp: 1 }))).toMatchObject({ state: 'expired' })
    expect(await look(await createToken({ tenant_id: undefined }))).toMatchObject({
      state: 'not valid',
      reason: 'no tenant',
    })
    expect(await look(await site.token())).toMatchObject({ state: 'valid' })
  })
})

test('while the provider is away, its tokens are answered 503 once a key is wanted, and the site’s own count on', async () => {
  provider.failure = { status: 503, body: '{}' }
  const unknown = await signToken(await createSigningKey('new'), buildAdaClaims(provider.issuer, Date.now()))
  const answer = await listSessions(unknown)
  expect(answer.status).toBe(503)
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  expect(answer.json).toMatchObject({ code: 'unavailable' })
  expect(answer.text).not.toContain('127.0.0.1')
  expect((await listSessions(await createToken())).status).toBe(200)
  expect((await listSessions(await site.token({ roles: ['analyst'] }))).status).toBe(200)
  expect(site.logged.join('\n')).not.toContain(unknown)
  const [finding] = (await examineSite(site.folder, {}, Date.now(), () => undefined)).filter(
    ({ check }) => check === 'sso',
  )
  expect(finding).toMatchObject({ state: 'problem', detail: expect.stringContaining('answered with status 503') })
})

// The packaged executable with a real Keycloak: who logs in there may do here what the profile says, come what may.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Keycloak, keycloakRequirement } from '../../support/engines/keycloak.ts'
import { keycloakAudience, keycloakSecrets } from '../../support/engines/keycloak-realm.ts'
import { sharedKeycloak } from '../../support/engines/shared-servers.ts'
import { type ExactResponse, sendExactRequest } from '../../support/http/send-exact-request.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../../support/site/packaged-site.ts'

const test = whenPresent(keycloakRequirement)
/** How long a condition is waited for, on a machine that does much else. */
const waitOptions = { timeout: 60_000 }
const clientSecret = 'a-secret-of-more-than-sixteen-characters'

let provider: Keycloak
let site: PackagedSite
let running: ServedSite

beforeAll(async () => {
  if (!keycloakRequirement.isPresent) return
  provider = sharedKeycloak('people')
  site = createPackagedSite('single-cluster')
  const secret = path.join(path.dirname(site.profile), 'gateway.secret')
  writeFileSync(secret, clientSecret, { mode: 0o600 })
  writeFileSync(path.join(path.dirname(site.profile), 'sso.secret'), `${keycloakSecrets.site}\n`, { mode: 0o600 })
  writeFileSync(site.profile, `${readFileSync(site.profile, 'utf8')}\n${sections(provider.issuer, secret)}`)
  await provider.start()
  running = await site.serve()
})
afterAll(async () => {
  await running?.stop()
  site?.remove()
  await provider?.end()
})

const sections = (issuer: string, secret: string) => `
identity:
  provider: oidc
  clients:
    - { client_id: gateway, secret_file: ${secret}, subject: "svc:gateway", roles: [service], may_exchange: true }
sso:
  issuer: ${issuer}
  audience: ${keycloakAudience}
  client_id: site
  role_map: { examiner: [analyst], watcher: [auditor] }
  refetch_min_s: 1
`

const consoleClient = { client_id: 'console', client_secret: keycloakSecrets.console }
const login = (username: 'ada' | 'bob') =>
  provider.token({
    ...consoleClient,
    grant_type: 'password',
    username,
    password: keycloakSecrets[username],
    scope: 'openid',
  })
const tokenOf = async (username: 'ada' | 'bob') => (await login(username)).access_token

function requestSession(token: string, method: string, where: string, body?: unknown): Promise<ExactResponse> {
  return sendExactRequest({
    port: running.ports.consensus ?? 0,
    method,
    path: `/api/v2/consensus/session${where}`,
    token,
    body,
  })
}
const readListStatus = async (token: string) => (await requestSession(token, 'GET', '')).status

const sessionBody = {
  lens_id: 'vessel-identity',
  lens_version: '1',
  policy: { m: 1, n: 2 },
  classification: 'SECRET',
}

test('people log in with a password, and have the roles, tenant and clearance that Keycloak knows', async () => {
  const ada = await tokenOf('ada')
  const opened = await requestSession(ada, 'POST', '', sessionBody)
  expect(opened.status, opened.text).toBe(201)
  const { id } = opened.json as { id: string }
  expect((await requestSession(ada, 'GET', `/${id}`)).status).toBe(200)
  const bob = await tokenOf('bob')
  expect((await requestSession(bob, 'POST', '', sessionBody)).status).toBe(403)
  expect((await requestSession(bob, 'GET', `/${id}`)).status).toBe(404)
})

test('clients log in with their secret; one without a tenant is nobody', async () => {
  const form = { grant_type: 'client_credentials', client_secret: keycloakSecrets.console }
  const robot = (await provider.token({ ...form, client_id: 'robot' })).access_token
  expect(await readListStatus(robot)).toBe(200)
  expect((await requestSession(robot, 'POST', '', sessionBody)).status).toBe(403)
  expect(await readListStatus((await provider.token({ ...form, client_id: 'console' })).access_token)).toBe(401)
})

test('ID and refresh tokens of the same login are none to show here', async () => {
  const { access_token, id_token = '', refresh_token = '' } = await login('ada')
  expect([
    await readListStatus(access_token),
    await readListStatus(id_token),
    await readListStatus(refresh_token),
  ]).toEqual([200, 401, 401])
})

test('revoking on the site ends a Keycloak token that Keycloak still accepts', async () => {
  const [lost, current] = [await tokenOf('ada'), await tokenOf('ada')]
  expect(await readListStatus(lost)).toBe(200)
  const { jti } = JSON.parse(Buffer.from(lost.split('.')[1] ?? '', 'base64url').toString())
  expect(site.run(['token', 'revoke', jti, '--reason', 'lost']).exit).toBe(0)
  expect([await readListStatus(lost), await readListStatus(current)]).toEqual([401, 200])
})

test('a token is exchanged: here for one of the site, there for one of a service downstream', async () => {
  const subject_token = await tokenOf('ada')
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: 'gateway',
    client_secret: clientSecret,
    subject_token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await sendExactRequest({
    port: running.ports.site ?? 0,
    method: 'POST',
    path: '/oauth2/token',
    headers,
    body,
  })
  const { access_token: ofSite } = answer.json as { access_token: string }
  expect([answer.status, await readListStatus(ofSite)]).toEqual([200, 200])

  const env = {
    PLATFORM_TOKEN: subject_token,
    SSO_CLIENT_SECRET_FILE: path.join(path.dirname(site.profile), 'sso.secret'),
  }
  const exchanged = site.run(['token', 'exchange', '--audience', 'downstream', '--json'], env)
  expect(exchanged.stderr).toBe('')
  const { token } = JSON.parse(exchanged.stdout) as { token: string }
  expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
    aud: 'downstream',
    azp: 'site',
    tenant_id: 'acme',
  })
  expect(await readListStatus(token)).toBe(401)
  const refused = site.run(['token', 'exchange', '--audience', 'elsewhere'], env)
  expect([refused.exit, refused.stdout]).toEqual([3, ''])
  expect(refused.stderr).toContain('the identity provider refused: invalid_client')
  expect(refused.stderr + exchanged.stderr).not.toContain(keycloakSecrets.site)
})

test('a new signing key is picked up with its first token, and the old one goes on', async () => {
  const before = await tokenOf('ada')
  await provider.rotate()
  const after = await tokenOf('ada')
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  expect(kidOf(after)).not.toBe(kidOf(before))
  const seen = new Set<number>()
  await expect
    .poll(async () => {
      const status = await readListStatus(after)
      seen.add(status)
      return status
    }, waitOptions)
    .toBe(200)
  // A token that counts is never called invalid while its key is on the way.
  expect(seen).not.toContain(401)
  expect(await readListStatus(before)).toBe(200)
})

/** Sends requests without a pause until its end; counts each status. */
function loadContinuously(token: string) {
  const seen: Record<number, number> = {}
  let isOn = true
  const one = async () => {
    while (isOn) {
      const status = await readListStatus(token)
      seen[status] = (seen[status] ?? 0) + 1
    }
  }
  const all = Promise.all([one(), one(), one(), one()])
  return {
    seen,
    async end() {
      isOn = false
      await all
    },
  }
}

test('Keycloak killed in the middle of load: nobody who is known notices, and it is not missed until it is back', async () => {
  const token = await tokenOf('ada')
  expect(await readListStatus(token)).toBe(200)
  const under = loadContinuously(token)
  try {
    await expect.poll(() => under.seen[200] ?? 0, waitOptions).toBeGreaterThan(50)
    await provider.kill()
    const atDeath = under.seen[200] ?? 0
    await expect.poll(() => under.seen[200] ?? 0, waitOptions).toBeGreaterThan(atDeath + 200)
  } finally {
    await under.end()
  }
  expect(under.seen).toEqual({ 200: expect.any(Number) })
  expect(site.run(['doctor']).stdout).toContain('the identity provider: the discovery document could not be fetched')

  // A daemon that starts now has no keys: it judges the site's own tokens, and says of the others that it cannot.
  await running.stop()
  running = await site.serve()
  const answer = await requestSession(token, 'GET', '')
  expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([503, true])
  const own = site.run(['token', 'mint', '--subject', 'root', '--roles', 'analyst']).stdout.trim()
  expect(await readListStatus(own)).toBe(200)

  await provider.start()
  await expect.poll(() => readListStatus(token), waitOptions).toBe(200)
  expect(await readListStatus(await tokenOf('ada'))).toBe(200)
  expect(site.run(['doctor']).stdout).toMatch(/the identity provider has \d+ usable keys/)
})

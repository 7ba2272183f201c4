// Roles register with a gateway: what it gets, with whose token, and that nothing of the role depends on it.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createAuthority, issueCertificate } from '../support/keys/site-certificates.ts'
import { type ProfileSections, startTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'registration-'))
const secret = 'the-secret-of-the-client'
const secret_file = path.join(folder, 'secret')
writeFileSync(secret_file, `${secret}\n`, { mode: 0o600 })

/** The site whose token endpoint knows the client. */
let issuer: TestSite
const sites: TestSite[] = []
const servers: (() => void)[] = []

beforeAll(async () => {
  const client = { client_id: 'platform', secret_file, tenant_id: 'tenant-a', roles: ['service'] }
  issuer = await startTestSite({
    name: 'issuer',
    profile: { platform: { roles: ['site'] }, identity: { clients: [client] } },
  })
})
afterEach(async () => {
  for (const site of sites.splice(0)) await site.end()
  for (const close of servers.splice(0)) close()
})
afterAll(async () => {
  await issuer?.end()
  rmSync(folder, { recursive: true })
})

type GatewayRequest = { readonly line: string; readonly authorization: string; readonly body: string }
type GatewayScript = (response: ServerResponse) => void
const accept: GatewayScript = (response) => response.end('{"registered":true}')

/** A gateway that answers by a script, which a test may replace. */
async function startGateway(first: GatewayScript = accept, pem?: string) {
  const requests: GatewayRequest[] = []
  let script = first
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = request
    requests.push({ line: `${method} ${url}`, authorization: `${headers.authorization}`, body: await text(request) })
    script(response)
  }
  const server = pem === undefined ? createServer(serve) : https.createServer({ cert: pem, key: pem }, serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  servers.push(close)
  const url = `${pem === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, requests, close, answerBy: (next: GatewayScript) => (script = next) }
}

const public_url = 'https://ingest.example:8008'

type StartOptions = { readonly profile?: ProfileSections; readonly env?: Readonly<Record<string, string>> }

/** A site whose ingest role registers. `events`: its log as text. */
async function startRegisteringSite(gateway: string, { profile = {}, env }: StartOptions = {}) {
  const events: string[] = []
  const site = await startTestSite({
    env: env ?? { SSO_CLIENT_SECRET_FILE: secret_file, GATEWAY_URL: gateway, PIPELINE_PUBLIC_URL: `${public_url}/` },
    profile: {
      platform: { roles: ['site', 'ingest'] },
      ingest: { port: 0 },
      sso: { token_url: `${issuer.url('site')}/oauth2/token`, client_id: 'platform' },
      ...profile,
    },
    onEvent: (event, fields) => void events.push(`${event} ${JSON.stringify(fields)}`),
  })
  sites.push(site)
  return { site, events, gatewayEvents: () => events.filter((each) => each.startsWith('platform.gateway.')) }
}

async function readCount(site: TestSite, outcome: string): Promise<number> {
  const token = await site.token({ roles: ['admin'] })
  const { text: metrics } = await site.call('ingest', 'GET', '/metrics', undefined, { token })
  const line = new RegExp(`^platform_gateway_registration_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'm')
  return Number(line.exec(metrics)?.[1] ?? 0)
}

test('the role registers with a token of its client, again after half of the lifetime, and leaves when it stops', async () => {
  const gateway = await startGateway()
  const { site, events, gatewayEvents } = await startRegisteringSite(gateway.url)
  const [first] = await waitUntil(() => gateway.requests.length > 0 && gateway.requests)
  expect(first?.line).toBe('POST /api/v1/register')
  expect(JSON.parse(first?.body ?? '')).toEqual({
    ...{ name: 'pipeline-service', url: public_url, ttl_seconds: 300, component_kind: 'library' },
  })
  const token = first?.authorization.replace(/^Bearer /, '') ?? ''
  expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
    ...{ client_id: 'platform', roles: ['service'] },
  })
  // Its issuer knows it.
  expect((await issuer.call('site', 'GET', '/api/v2/health', undefined, { token })).status).toBe(200)
  await waitUntil(async () => (await readCount(site, 'registered')) === 1)
  site.clock.advance(150_000)
  site.wakeWorker('ingest', 'gateway-registration')
  await waitUntil(() => gateway.requests.length === 2)
  // The token is cached.
  expect(gateway.requests[1]).toEqual(first)
  await waitUntil(async () => (await readCount(site, 'registered')) === 2)
  await site.stop()
  expect(gateway.requests.slice(2)).toEqual([
    { line: 'DELETE /api/v1/register/pipeline-service', authorization: first?.authorization, body: '' },
  ])
  expect(gatewayEvents()).toHaveLength(1)
  const printed = events.join('\n')
  expect([printed.includes(secret), printed.includes(token)]).toEqual([false, false])
})

test('each role with a URL registers under its own name, and no other does', async () => {
  const gateway = await startGateway()
  const { site, gatewayEvents } = await startRegisteringSite(gateway.url, {
    profile: {
      platform: { roles: ['site', 'ingest', 'resolution', 'consensus'] },
      site: { public_url: 'http://127.0.0.1:8420', port: 0 },
      consensus: { port: 0 },
      resolution: { port: 0, public_url: 'http://resolution.example', component_kind: 'agent' },
      gateway_client: { ttl_s: 60 },
    },
  })
  await waitUntil(() => gatewayEvents().length === 2)
  const bodies = gateway.requests.map(({ body }) => JSON.parse(body))
  expect(bodies.map(({ url, ttl_seconds, component_kind }) => [url, ttl_seconds, component_kind]).sort()).toEqual([
    ['http://resolution.example', 60, 'agent'],
    [public_url, 60, 'library'],
  ])
  expect(new Set(bodies.map(({ name }) => name)).size).toBe(2)
  await site.stop()
  expect(gateway.requests.map(({ line }) => line.split(' ')[0])).toEqual(['POST', 'POST', 'DELETE', 'DELETE'])
})

test('a gateway over TLS must have a certificate of the authorities of the profile', async () => {
  const authority = await createAuthority(folder, 'gateway')
  const gateway = await startGateway(accept, (await issueCertificate(folder, authority, 'gateway')).pem)
  const { site } = await startRegisteringSite(gateway.url, {
    profile: { gateway_client: { ca_file: authority.file } },
  })
  await waitUntil(async () => (await readCount(site, 'registered')) === 1)
  await expectFailure(await startRegisteringSite(gateway.url), 'unreachable', /CERT|LEAF_SIGNATURE/)
})

/** The role serves, the failure is counted each time, and logged once. */
async function expectFailure(world: Awaited<ReturnType<typeof startRegisteringSite>>, outcome: string, reason: RegExp) {
  const { site, gatewayEvents } = world
  await waitUntil(async () => (await readCount(site, outcome)) === 1)
  site.clock.advance(150_000)
  site.wakeWorker('ingest', 'gateway-registration')
  await waitUntil(async () => (await readCount(site, outcome)) === 2)
  const { status, json } = await site.call('ingest', 'GET', '/health')
  expect([status, json]).toMatchObject([200, { status: 'ok' }])
  expect(gatewayEvents()).toEqual([expect.stringMatching(reason)])
  expect(site.loggedErrors).toEqual([])
}

const answer =
  (status: number, body: string, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body)

test.each<[string, GatewayScript, string, RegExp]>([
  ['refuses the role', answer(403, '{"detail":"not allowed"}'), 'refused', /it answered 403/],
  ['redirects', answer(302, '', { location: 'http://127.0.0.1:1/' }), 'refused', /it answered 302/],
  ['is a page', answer(200, '<html>welcome</html>'), 'refused', /without a JSON object/],
  ['answers without end', answer(200, `"${'x'.repeat(100_000)}"`), 'refused', /too large/],
  ['breaks off', (response) => response.destroy(), 'unreachable', /unregistered/],
  ['speaks no HTTP', (response) => response.socket?.end('what?\r\n'), 'unreachable', /unregistered/],
])('a gateway that %s changes nothing but the count', async (_, script, outcome, reason) => {
  const gateway = await startGateway(script)
  const world = await startRegisteringSite(gateway.url)
  await expectFailure(world, outcome, reason)
  gateway.answerBy(accept)
  world.site.clock.advance(150_000)
  world.site.wakeWorker('ingest', 'gateway-registration')
  await waitUntil(() => world.gatewayEvents().length === 2)
  expect(world.gatewayEvents()[1]).toMatch(/^platform\.gateway\.registered /)
})

test('a gateway that is not there changes nothing but the count', async () => {
  const gateway = await startGateway()
  gateway.close()
  await expectFailure(await startRegisteringSite(gateway.url), 'unreachable', /ECONNREFUSED/)
})

test('a gateway that never answers holds up neither the role nor its stop', async () => {
  const gateway = await startGateway(() => undefined)
  const { site, gatewayEvents } = await startRegisteringSite(gateway.url)
  await waitUntil(() => gateway.requests.length === 1)
  expect((await site.call('ingest', 'GET', '/health')).json).toMatchObject({ status: 'ok' })
  await waitUntil(async () => (await readCount(site, 'unreachable')) === 1)
  expect(gatewayEvents()).toHaveLength(1)
  site.clock.advance(150_000)
  site.wakeWorker('ingest', 'gateway-registration')
  await waitUntil(() => gateway.requests.length === 2)
  const began = performance.now()
  await site.stop()
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(gatewayEvents()).toHaveLength(1)
})

const env = (gateway: string, more: Readonly<Record<string, string>>) => ({
  ...{ GATEWAY_URL: gateway, PIPELINE_PUBLIC_URL: public_url, ...more },
})
test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ['without a client', {}, /sso\.client_id and sso\.client_secret are not both set/],
  ['with a client whose secret is wrong', { SSO_CLIENT_SECRET: 'guessed' }, /the token endpoint answered 401/],
  [
    'with a token endpoint that would be reached in the clear',
    { SSO_CLIENT_SECRET: secret, SSO_TOKEN_URL: 'http://sso.example/token' },
    /cannot be reached: its URL must be https, or http on this machine/,
  ],
  ['with authorities that cannot be read', { SSO_CLIENT_SECRET: secret, SSO_CA_FILE: '/nowhere/ca.pem' }, /ENOENT/],
])('a role %s sends the gateway nothing', async (_, more, reason) => {
  const gateway = await startGateway()
  await expectFailure(await startRegisteringSite(gateway.url, { env: env(gateway.url, more) }), 'no_token', reason)
  expect(gateway.requests).toEqual([])
})

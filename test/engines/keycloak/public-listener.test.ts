// The packaged public proxy and its token from a real Keycloak over TLS: minted, renewed in time, missed, never revealed.
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import { keycloakRequirement } from '../../support/engines/keycloak.ts'
import { keycloakSecrets } from '../../support/engines/keycloak-realm.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { sharedKeycloak } from '../../support/engines/shared-servers.ts'
import {
  countReasons,
  type PackagedProxy,
  readProxyMetrics,
  sendProxyRequest,
  waitForRecords,
} from '../../support/proxy/packaged-proxy.ts'
import { serveTestProxy } from '../../support/proxy/test-proxy.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const test = whenPresent(keycloakRequirement)
const waitOptions = { timeout: 90_000 }
const report = '/public-api/api/v1/report'
/** Short, so that a renewal is seen soon. */
const lifespan_s = 16

let provider: ReturnType<typeof sharedKeycloak>
let otherCertificates: ServerCertificateSet

beforeAll(async () => {
  if (!keycloakRequirement.isPresent) return
  otherCertificates = issueServerCertificates('stranger')
  provider = sharedKeycloak('public-listener', lifespan_s)
  await provider.start()
})
afterAll(async () => {
  await provider?.end()
  otherCertificates?.dispose()
})

function serveProxy(env: Readonly<Record<string, string>> = {}) {
  return serveTestProxy(['GET /api/v1/report'], {
    SSO_TOKEN_URL: provider.tokenUrl,
    SSO_CA_FILE: provider.ca,
    PUBLIC_SSO_CLIENT_ID: 'robot',
    PUBLIC_SSO_CLIENT_SECRET: keycloakSecrets.console,
    PROXY_WORKERS: '1',
    ...env,
  })
}

const claims = z.looseObject({ iss: z.string(), azp: z.string(), iat: z.number(), exp: z.number() })
const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })

const decodeTokenPart = (token: string, at: number): unknown =>
  JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString('utf8'))

/** The tokens that requests went upstream with, in order. */
const listUpstreamTokens = ({ platform }: PackagedProxy) =>
  platform.requests.map(({ headers }) => (headers.authorization ?? '').replace(/^Bearer /, ''))

/** By the keys that Keycloak publishes, and by no code of the proxy. */
async function isSigned(token: string): Promise<boolean> {
  const { keys } = jwks.parse(await (await fetch(`${provider.issuer}/protocol/openid-connect/certs`)).json())
  const { kid } = z.object({ kid: z.string() }).parse(decodeTokenPart(token, 0))
  const key = keys.find((each) => each.kid === kid)
  const [head, body, signature = ''] = token.split('.')
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  return verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'))
}

test('the token is Keycloak’s own for the limited client; each lives when it is shown, and no request waits for a new one', async () => {
  const { proxy, served: at } = await serveProxy()
  const alive: boolean[] = []
  proxy.platform.respond = ({ headers }, response) => {
    const { exp } = claims.parse(decodeTokenPart((headers.authorization ?? '').replace(/^Bearer /, ''), 1))
    alive.push(exp * 1_000 > Date.now())
    response.end('{"ok":1}\n')
  }
  const statuses = new Set<number>()
  await expect
    .poll(async () => {
      statuses.add((await sendProxyRequest(at, report)).status)
      return new Set(listUpstreamTokens(proxy)).size
    }, waitOptions)
    .toBe(2)
  expect([...statuses]).toEqual([200])
  expect(alive).not.toContain(false)
  const [first = '', second = ''] = new Set(listUpstreamTokens(proxy))
  expect([await isSigned(first), await isSigned(second)]).toEqual([true, true])
  const [before, after] = [claims.parse(decodeTokenPart(first, 1)), claims.parse(decodeTokenPart(second, 1))]
  expect(before).toMatchObject({ iss: provider.issuer, azp: 'robot', exp: before.iat + lifespan_s })
  expect(after.iat).toBeLessThan(before.exp)
  expect((await readProxyMetrics(proxy)).get('proxy_token_total{outcome="minted"}')).toBe('2')
  const records = JSON.stringify(await waitForRecords(proxy, listUpstreamTokens(proxy).length))
  for (const secret of [first, second, keycloakSecrets.console]) expect(at.log() + records).not.toContain(secret)
})

test('Keycloak killed: uses up its token, then answers 503 and forwards nothing; started again, it goes on by itself', async () => {
  const { proxy, served: at } = await serveProxy()
  expect((await sendProxyRequest(at, report)).status).toBe(200)
  await provider.kill()
  await expect.poll(async () => (await sendProxyRequest(at, report)).status, waitOptions).toBe(503)
  expect(new Set(listUpstreamTokens(proxy)).size).toBe(1)
  const forwarded = proxy.platform.requests.length
  const refused = await sendProxyRequest(at, report)
  expect([refused.status, refused.text]).toEqual([503, '{"status":503,"title":"Service Unavailable"}'])
  expect((await sendProxyRequest(at, '/public-api/api/v1/other')).status).toBe(404)
  expect(proxy.platform.requests).toHaveLength(forwarded)
  await expect.poll(() => at.log(), waitOptions).toContain('proxy.token.unreachable')
  await provider.start()
  await expect.poll(async () => (await sendProxyRequest(at, report)).status, waitOptions).toBe(200)
  expect(new Set(listUpstreamTokens(proxy)).size).toBe(2)
  expect(at.log()).not.toContain(keycloakSecrets.console)
})

test('a secret that Keycloak does not know is 503; the log has what Keycloak says, and the caller nothing of it', async () => {
  const { proxy, served: at } = await serveProxy({ PUBLIC_SSO_CLIENT_SECRET: 'a-guessed-secret' })
  const answer = await sendProxyRequest(at, report)
  expect(answer.status).toBe(503)
  expect(answer.text).not.toContain('client')
  await expect.poll(() => at.log(), waitOptions).toMatch(/proxy\.token\.refused/)
  await expect.poll(() => at.log()).toMatch(/unauthorized_client|invalid_client/)
  expect(at.log()).not.toContain('a-guessed-secret')
  expect(proxy.platform.requests).toEqual([])
  expect(countReasons(await waitForRecords(proxy, 1))).toEqual({ token_unavailable: 1 })
})

test('a Keycloak vouched for by another authority never gets the secret', async () => {
  const { proxy, served: at } = await serveProxy({ SSO_CA_FILE: otherCertificates.of('stranger').ca })
  expect((await sendProxyRequest(at, report)).status).toBe(503)
  await expect.poll(() => at.log(), waitOptions).toContain('proxy.token.unreachable')
  expect(proxy.platform.requests).toEqual([])
})

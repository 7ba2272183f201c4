// The packaged public door and its token from a real Keycloak over TLS: minted, renewed in time, missed when it is away, and never told.
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import { type Keycloak, keycloak, keycloakWanted } from '../../support/engines/keycloak.ts'
import { secrets } from '../../support/engines/keycloak-realm.ts'
import { type Certificates, serverCertificates } from '../../support/engines/server-certificates.ts'
import type { Served } from '../../support/packaged-site.ts'
import { ask, type Door, metrics, publicDoor, reasonsOf, recorded } from '../../support/public-door.ts'
import { whenPresent } from '../../support/requires.ts'

const test = whenPresent(keycloakWanted)
const patience = { timeout: 90_000 }
const report = '/public-api/api/v1/report'
/** Short, so that a renewal is seen soon. */
const lifespan_s = 16

let provider: Keycloak
let certificates: Certificates
let others: Certificates
let door: Door
let served: Served | undefined

beforeAll(async () => {
  if (!keycloakWanted.isPresent) return
  certificates = serverCertificates('keycloak')
  others = serverCertificates('stranger')
  provider = await keycloak({ lifespan_s, tls: certificates.of('keycloak') })
  await provider.start()
})
afterAll(async () => {
  await provider?.end()
  certificates?.dispose()
  others?.dispose()
})
afterEach(async () => {
  await served?.stop()
  await door?.close()
  served = undefined
})

async function open(env: Readonly<Record<string, string>> = {}): Promise<Served> {
  door = await publicDoor(['GET /api/v1/report'], {
    SSO_TOKEN_URL: provider.tokenUrl,
    SSO_CA_FILE: certificates.of('keycloak').ca,
    PUBLIC_SSO_CLIENT_ID: 'robot',
    PUBLIC_SSO_CLIENT_SECRET: secrets.console,
    PROXY_WORKERS: '1',
    ...env,
  })
  served = await door.serve()
  return served
}

const claims = z.looseObject({ iss: z.string(), azp: z.string(), iat: z.number(), exp: z.number() })
const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })

const partOf = (token: string, at: number): unknown =>
  JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString('utf8'))

/** The tokens that requests went upstream with, in order. */
const tokensSeen = () => door.platform.asked.map(({ headers }) => (headers.authorization ?? '').replace(/^Bearer /, ''))

/** By the keys that Keycloak publishes, and by nothing of the door. */
async function isSigned(token: string): Promise<boolean> {
  const { keys } = jwks.parse(await (await fetch(`${provider.issuer}/protocol/openid-connect/certs`)).json())
  const { kid } = z.object({ kid: z.string() }).parse(partOf(token, 0))
  const key = keys.find((each) => each.kid === kid)
  const [head, body, signature = ''] = token.split('.')
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  return verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'))
}

test('the token is Keycloak’s own for the limited client; each lives when it is shown, and no request waits for a new one', async () => {
  const at = await open()
  const alive: boolean[] = []
  door.platform.answer = ({ headers }, response) => {
    const { exp } = claims.parse(partOf((headers.authorization ?? '').replace(/^Bearer /, ''), 1))
    alive.push(exp * 1_000 > Date.now())
    response.end('{"ok":1}\n')
  }
  const statuses = new Set<number>()
  await expect
    .poll(async () => {
      statuses.add((await ask(at, report)).status)
      return new Set(tokensSeen()).size
    }, patience)
    .toBe(2)
  expect([...statuses]).toEqual([200])
  expect(alive).not.toContain(false)
  const [first = '', second = ''] = new Set(tokensSeen())
  expect([await isSigned(first), await isSigned(second)]).toEqual([true, true])
  const [before, after] = [claims.parse(partOf(first, 1)), claims.parse(partOf(second, 1))]
  expect(before).toMatchObject({ iss: provider.issuer, azp: 'robot', exp: before.iat + lifespan_s })
  expect(after.iat).toBeLessThan(before.exp)
  expect((await metrics(door)).get('proxy_token_total{outcome="minted"}')).toBe('2')
  const records = JSON.stringify(await recorded(door, tokensSeen().length))
  for (const secret of [first, second, secrets.console]) expect(at.log() + records).not.toContain(secret)
})

test('Keycloak killed: what is held is used up, then 503 and nothing forwarded; started again, it goes on by itself', async () => {
  const at = await open()
  expect((await ask(at, report)).status).toBe(200)
  await provider.kill()
  await expect.poll(async () => (await ask(at, report)).status, patience).toBe(503)
  expect(new Set(tokensSeen()).size).toBe(1)
  const forwarded = door.platform.asked.length
  const refused = await ask(at, report)
  expect([refused.status, refused.text]).toEqual([503, '{"status":503,"title":"Service Unavailable"}'])
  expect((await ask(at, '/public-api/api/v1/other')).status).toBe(404)
  expect(door.platform.asked).toHaveLength(forwarded)
  await expect.poll(() => at.log(), patience).toContain('proxy.token.unreachable')
  await provider.start()
  await expect.poll(async () => (await ask(at, report)).status, patience).toBe(200)
  expect(new Set(tokensSeen()).size).toBe(2)
  expect(at.log()).not.toContain(secrets.console)
})

test('a secret that Keycloak does not know is 503; the log has what Keycloak says, and the caller nothing of it', async () => {
  const at = await open({ PUBLIC_SSO_CLIENT_SECRET: 'a-guessed-secret' })
  const answer = await ask(at, report)
  expect(answer.status).toBe(503)
  expect(answer.text).not.toContain('client')
  await expect.poll(() => at.log(), patience).toMatch(/proxy\.token\.refused/)
  await expect.poll(() => at.log()).toMatch(/unauthorized_client|invalid_client/)
  expect(at.log()).not.toContain('a-guessed-secret')
  expect(door.platform.asked).toEqual([])
  expect(reasonsOf(await recorded(door, 1))).toEqual({ token_unavailable: 1 })
})

test('a Keycloak that another authority vouches for is never told the secret', async () => {
  const at = await open({ SSO_CA_FILE: others.of('stranger').ca })
  expect((await ask(at, report)).status).toBe(503)
  await expect.poll(() => at.log(), patience).toContain('proxy.token.unreachable')
  expect(door.platform.asked).toEqual([])
})

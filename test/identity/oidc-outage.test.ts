// The provider's keys over time: new ones are picked up, old ones carry over an outage, and nobody makes us hammer it.
import { beforeAll, expect, test } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import {
  buildAdaClaims,
  createSigningKey,
  type LocalIssuer,
  type SigningKey,
  signToken,
  startIssuerForTest,
} from './local-issuer.ts'
import { createOidcFixture } from './oidc-fixture.ts'

let first: SigningKey
let second: SigningKey
beforeAll(async () => {
  first = await createSigningKey('first')
  second = await createSigningKey('second', 'ES256')
})

const countKeyFetches = ({ requestCounts }: LocalIssuer) => requestCounts.get('/keys') ?? 0
const minutes = 60_000
/** Fetches in the background end when they end. */
const waitOptions = { timeout: 30_000 }

/** The site's verdict on a token, or that it cannot judge it. */
async function verifyAtSite(site: ReturnType<typeof createOidcFixture>, token: string): Promise<unknown> {
  try {
    const verdict = await site.readVerdict(token)
    return typeof verdict === 'string' ? verdict : 'counts'
  } catch (error) {
    if (!isRefusal(error)) throw error
    return `${error.code} ${error.retry_after_s}`
  }
}

test('keys are fetched with the first token, once for all that come at that moment', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const token = await signToken(first, buildAdaClaims(issuer.issuer))
  expect(countKeyFetches(issuer)).toBe(0)
  const release = issuer.hold()
  const answers = Array.from({ length: 50 }, () => verifyAtSite(site, token))
  release()
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['counts']))
  expect(countKeyFetches(issuer)).toBe(1)
})

test('requests an unknown key once, then not before the least time has passed', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const known = await signToken(first, buildAdaClaims(issuer.issuer))
  const unknown = (name: string) => signToken(second, buildAdaClaims(issuer.issuer), { kid: name })
  expect(await verifyAtSite(site, await unknown('a'))).toBe('unknown_key')
  for (const name of ['b', 'c', 'd']) expect(await verifyAtSite(site, await unknown(name))).toBe('unavailable 10')
  expect(countKeyFetches(issuer)).toBe(1)
  expect(await verifyAtSite(site, known)).toBe('counts')
  site.clock.mono += 10_000
  const many = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => verifyAtSite(site, await unknown(`many-${n}`))),
  )
  expect(new Set(many)).toContain('unknown_key')
  expect(countKeyFetches(issuer)).toBe(2)
})

test('a key that is made while keys are on their way is not denied because they lack it', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const by = (key: SigningKey, kid = key.kid) => signToken(key, buildAdaClaims(issuer.issuer), { kid })
  const [byFirst, bySecond, ...forged] = await Promise.all([
    by(first),
    by(second),
    ...Array.from({ length: 50 }, (_, n) => by(second, `forged-${n}`)),
  ])
  const release = issuer.hold('/keys')
  const early = verifyAtSite(site, byFirst)
  await expect.poll(() => countKeyFetches(issuer), waitOptions).toBe(1)
  issuer.keys = [first.jwk, second.jwk]
  const late = [bySecond, ...forged].map((token) => verifyAtSite(site, token))
  release()
  expect(await early).toBe('counts')
  expect(new Set(await Promise.all(late))).toEqual(new Set(['unavailable 10']))
  expect(countKeyFetches(issuer)).toBe(1)
  site.clock.mono += 10_000
  expect(await verifyAtSite(site, bySecond)).toBe('counts')
  expect(countKeyFetches(issuer)).toBe(2)
})

test('a token that is wrong in another way never causes a request to the provider', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const wrong = [{ aud: 'elsewhere' }, { exp: 1 }, { iss: 'https://elsewhere' }, { jti: undefined }]
  for (const change of wrong) {
    await verifyAtSite(site, await signToken(second, { ...buildAdaClaims(issuer.issuer), ...change }))
  }
  expect(issuer.requestCounts.size).toBe(0)
})

test('a new key is picked up with the first token that it signed, and a withdrawn one ends with the next look', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const byFirst = await signToken(first, buildAdaClaims(issuer.issuer))
  const bySecond = await signToken(second, buildAdaClaims(issuer.issuer))
  expect(await verifyAtSite(site, byFirst)).toBe('counts')
  const before = site.stamp()
  issuer.keys = [first.jwk, second.jwk]
  site.clock.mono += 10_000
  expect(await verifyAtSite(site, bySecond)).toBe('counts')
  expect(site.stamp()).not.toBe(before)
  issuer.keys = [second.jwk]
  site.clock.mono += 5 * minutes
  const both = site.stamp()
  expect(await verifyAtSite(site, byFirst)).toBe('counts')
  await expect.poll(() => site.stamp(), waitOptions).not.toBe(both)
  expect(await verifyAtSite(site, byFirst)).toBe('unavailable 10')
  site.clock.mono += 10_000
  expect(await verifyAtSite(site, byFirst)).toBe('unknown_key')
})

const outages: [string, LocalIssuer['failure']][] = [
  ['answers 503', { status: 503, body: '{}' }],
  ['answers a page', { status: 200, body: '<html>' }],
  ['answers something else', { status: 200, body: '{"keys":[]}' }],
  ['sends us elsewhere', { status: 302, body: '{}', headers: { location: 'http://127.0.0.1:1/' } }],
  ['answers without end', { status: 200, body: `"${'x'.repeat(600_000)}"` }],
]

test.each(outages)(
  'while the provider %s, its keys serve until their greatest age, then nothing is judged',
  async (_, failure) => {
    const issuer = await startIssuerForTest(first)
    const site = createOidcFixture(issuer.issuer, { keys_max_age_s: 3_600 })
    const token = await signToken(first, buildAdaClaims(issuer.issuer))
    expect(await verifyAtSite(site, token)).toBe('counts')
    issuer.failure = failure
    site.clock.mono += 59 * minutes
    expect(await verifyAtSite(site, token)).toBe('counts')
    await expect.poll(() => site.logged.filter((line) => line.includes('sso.failed')), waitOptions).toHaveLength(1)
    // A key that was not there before may be a new one: that is not for us to deny.
    expect(await verifyAtSite(site, await signToken(second, buildAdaClaims(issuer.issuer)))).toBe('unavailable 10')
    site.clock.mono += 1 * minutes
    expect(site.stamp()).toBe('none')
    expect(await verifyAtSite(site, token)).toBe('unavailable 10')
    expect(await verifyAtSite(site, token)).toBe('unavailable 10')
    issuer.failure = undefined
    site.clock.mono += 10_000
    expect(await verifyAtSite(site, token)).toBe('counts')
  },
)

test('a provider that was never reachable is unavailable, and tried again after the least time alone', async () => {
  const issuer = await startIssuerForTest(first)
  issuer.failure = { status: 500, body: '{}' }
  const site = createOidcFixture(issuer.issuer)
  const token = await signToken(first, buildAdaClaims(issuer.issuer))
  for (let n = 0; n < 20; n += 1) expect(await verifyAtSite(site, token)).toBe('unavailable 10')
  expect([...issuer.requestCounts.values()]).toEqual([1])
  expect(site.logged).toHaveLength(1)
  expect(site.logged[0]).toContain('the discovery document was answered with status 500')
})

test('health tells how old the keys are, and looks for new ones where no token does', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer, { keys_max_age_s: 3_600 })
  expect(site.health()).toEqual({ ok: true, detail: 'no keys requested yet' })
  expect(await verifyAtSite(site, await signToken(first, buildAdaClaims(issuer.issuer)))).toBe('counts')
  site.clock.mono += 60 * minutes
  expect(site.health()).toEqual({ ok: false, detail: 'keys of 3600 s ago' })
  await expect.poll(() => site.health(), waitOptions).toEqual({ ok: true, detail: 'keys of 0 s ago' })
  const away = createOidcFixture('http://127.0.0.1:1')
  await verifyAtSite(away, await signToken(first, buildAdaClaims('http://127.0.0.1:1')))
  expect(away.health()).toEqual({ ok: false, detail: 'out of reach' })
})

test('another issuer’s document is not taken, nor keys from where nobody may look', async () => {
  const issuer = await startIssuerForTest(first)
  const site = createOidcFixture(issuer.issuer)
  const token = await signToken(first, buildAdaClaims(issuer.issuer))
  const documents = [
    [{ issuer: 'https://idp.example' }, 'another issuer'],
    [{ jwks_uri: 'http://203.0.113.1/keys' }, 'neither https'],
    [{ jwks_uri: 'file:///etc/passwd' }, 'neither https'],
    [{ jwks_uri: 7 }, 'lacks issuer or jwks_uri'],
  ] as const
  for (const [change, reason] of documents) {
    issuer.discovery = change
    site.clock.mono += 10_000
    expect(await verifyAtSite(site, token)).toBe('unavailable 10')
    expect(site.logged.at(-1)).toContain(reason)
  }
  expect(countKeyFetches(issuer)).toBe(0)
})

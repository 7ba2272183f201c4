// Tokens for services outside, for callers of an identity provider: exchanged there, never replaced, kept no longer than they live.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isRefusal, Refusal } from '../../daemon/kernel/error/errors.ts'
import { grantOf, sampleWork } from '../support/delegation/delegation-answers.ts'
import { providerAudience, type RecordingProvider, startRecordingProvider } from '../support/http/recording-provider.ts'
import { startTestSite, type TestSite } from '../support/site/test-site.ts'

let provider: RecordingProvider
let world: TestSite
beforeAll(async () => {
  provider = await startRecordingProvider()
  world = await startTestSite({
    profile: {
      platform: { roles: ['site', 'resolution', 'consensus'] },
      resolution: { port: 0 },
      identity: { provider: 'oidc', audiences: { airflow: ['resolution'] } },
      sso: {
        ...{ issuer: provider.issuer, audience: providerAudience, client_id: 'site:a', client_secret: 's e+c%ret/:' },
        role_map: { examiner: ['analyst'] },
      },
    },
  })
})
afterAll(async () => {
  await world?.end()
  provider?.close()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const grant = {
  token_type: 'Bearer',
  expires_in: 3_600,
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
}
const readClaims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const exchanges = () => provider.requests.filter(({ path }) => path === '/token')

/** Ada with a new token, as the operations of resolution see her. */
async function createAda(change: Readonly<Record<string, unknown>> = {}) {
  const token = await provider.sign(world.clock.now(), change)
  return { token, acting: world.delegation('resolution', { subject_token: token }) }
}

let issued = 0
beforeEach(() => {
  provider.answerExchange(() => [200, { ...grant, access_token: `theirs-${++issued}` }])
})

describe('for a service outside', () => {
  test('the provider exchanges the token of its own caller, as the client of the site', async () => {
    const { token, acting } = await createAda()
    const exchanged = await acting.token({ service: 'airflow' })
    expect(exchanged).toEqual({ token: `theirs-${issued}`, expires_ts: world.clock.now() + 3_600_000 })
    const sent = exchanges().at(-1)
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toMatchObject({
      subject_token: token,
      audience: 'airflow',
    })
    expect(sent?.head).toContain(Buffer.from('site%3Aa:s+e%2Bc%25ret%2F%3A').toString('base64'))
  })

  test('one exchange serves repeats, for half of the life of the answer at most', async () => {
    provider.answerExchange(() => [200, { ...grant, expires_in: 100, access_token: `theirs-${++issued}` }])
    const { acting } = await createAda()
    const before = exchanges().length
    const [first] = await Promise.all([acting.token({ service: 'airflow' }), acting.token({ service: 'airflow' })])
    expect(exchanges()).toHaveLength(before + 1)
    world.clock.advance(49_000)
    expect(await acting.token({ service: 'airflow' })).toEqual(first)
    world.clock.advance(2_000)
    expect(await acting.token({ service: 'airflow' })).not.toEqual(first)
    expect(exchanges()).toHaveLength(before + 2)
  })

  test('an answer without a life lives a minute, and one that has ended is not kept', async () => {
    provider.answerExchange(() => [200, { token_type: 'bearer', access_token: 'brief' }])
    const { acting } = await createAda()
    expect(await acting.token({ service: 'airflow' })).toEqual({
      token: 'brief',
      expires_ts: world.clock.now() + 60_000,
    })
    provider.answerExchange(() => [200, { ...grant, expires_in: 0, access_token: 'ended' }])
    const other = (await createAda()).acting
    const before = exchanges().length
    await other.token({ service: 'airflow' })
    await other.token({ service: 'airflow' })
    expect(exchanges()).toHaveLength(before + 2)
  })

  test.each([
    ['a provider without exchange', 400, { error: 'unsupported_grant_type' }, /refused: unsupported_grant_type/],
    ['a client that may not', 403, { error: 'access_denied' }, /refused: access_denied/],
  ])('%s refuses, and the site does not mint instead', async (_, status, body, reason) => {
    provider.answerExchange(() => [status, body])
    const { acting } = await createAda()
    const refused = await acting.token({ service: 'airflow' })
    expect(isRefusal(refused) && refused.code).toBe('forbidden')
    expect(isRefusal(refused) && refused.message).toMatch(reason)
  })

  test('the same token, or that of another subject, is not passed on', async () => {
    const { token, acting } = await createAda()
    provider.answerExchange((form) => [200, { ...grant, access_token: form.get('subject_token') }])
    const same = await acting.token({ service: 'airflow' })
    expect(isRefusal(same) && same.message).toMatch(/returned the same token/)
    const other = await provider.sign(world.clock.now(), { sub: 'service-account-site' })
    provider.answerExchange(() => [200, { ...grant, access_token: other }])
    const foreign = await acting.token({ service: 'airflow' })
    expect(isRefusal(foreign) && foreign.message).toMatch(/token of another subject/)
    for (const refused of [same, foreign]) expect(JSON.stringify(refused)).not.toContain(token)
  })

  test.each([
    ['no token', 200, { ...grant }],
    ['another kind of token', 200, { ...grant, access_token: 'x', token_type: 'DPoP' }],
    [
      'a refresh token',
      200,
      { ...grant, access_token: 'x', issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    ],
    ['a life that is no number', 200, { ...grant, access_token: 'x', expires_in: 'soon' }],
    ['a failure', 503, { error: 'temporarily_unavailable' }],
    ['an error without a code', 400, { message: 'no' }],
  ])('%s is unavailable, and asked for again', async (_, status, body) => {
    provider.answerExchange(() => [status, body])
    const { acting } = await createAda()
    const failure = await acting.token({ service: 'airflow' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Refusal)
    expect((failure as Refusal).code).toBe('unavailable')
    provider.answerExchange(() => [200, { ...grant, access_token: 'at last' }])
    expect(await acting.token({ service: 'airflow' })).toMatchObject({ token: 'at last' })
  })

  test('a service that the profile does not list gets nothing, and the provider is not asked', async () => {
    const before = exchanges().length
    const refused = await (await createAda()).acting.token({ service: 'gitlab' })
    expect(isRefusal(refused) && refused.message).toMatch(/identity\.audiences/)
    expect(exchanges()).toHaveLength(before)
  })
})

describe('what the provider cannot exchange', () => {
  test('a role of the site gets a token of the site, with the mapped roles', async () => {
    const { acting } = await createAda()
    const before = exchanges().length
    const token = await acting.token({ role: 'consensus' })
    expect(readClaims(isRefusal(token) ? '' : token.token)).toMatchObject({
      ...{ sub: 'ada', tenant_id: 'tenant-a', roles: ['analyst'], act: { sub: 'role:resolution' } },
      origin: { source: 'provider', issuer: provider.issuer },
    })
    expect(exchanges()).toHaveLength(before)
  })

  test('stored work gets a token of the site for the service', async () => {
    const { acting } = await createAda()
    const stored = await acting.store(sampleWork)
    if (isRefusal(stored)) throw stored
    world.clock.advance(86_400_000)
    const token = await world.delegation('resolution', grantOf(stored)).token({ service: 'airflow' })
    expect(readClaims(isRefusal(token) ? '' : token.token)).toMatchObject({ aud: 'airflow', sub: 'ada' })
  })

  test('a caller of the site’s own issuer gets a token of the site', async () => {
    const subject_token = await world.token({ subject: 'olga', roles: ['operator'] })
    const token = await world.delegation('resolution', { subject_token }).token({ service: 'airflow' })
    expect(readClaims(isRefusal(token) ? '' : token.token)).toMatchObject({ aud: 'airflow', sub: 'olga' })
  })
})

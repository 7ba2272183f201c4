// Invalid tokens: each is answered 401, stores nothing, and appears in no answer and no log.
import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import {
  buildSessionInput,
  createOperationFixture,
  type OperationFixture,
} from '../../support/every-operation/operation-fixture.ts'
import { readStoredState } from '../../support/every-operation/read-stored-state.ts'
import { buildTokenClaims } from '../../support/site/single-cluster-site.ts'

let world: OperationFixture
beforeAll(async () => {
  world = await createOperationFixture()
})
afterAll(() => world?.site.close())

const encodeSegment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const admin = { sub: 'eve', roles: ['admin'], clearance: { level: 'TOP_SECRET', categories: [] } }

/** The header and claims of the test, signed by HMAC with the secret, or unsigned. */
function buildToken(header: Readonly<Record<string, unknown>>, secret?: string | Buffer): string {
  const signed = `${encodeSegment({ typ: 'at+jwt', kid: world.site.tokenKey().public_key.kid, ...header })}.${encodeSegment(buildTokenClaims(admin))}`
  return `${signed}.${secret === undefined ? '' : createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function signByForeignKey(kid?: string): Promise<string> {
  const dir = mkdtempSync(path.join(tmpdir(), 'foreign-key-'))
  try {
    await generateKey(dir, { use: 'token', now: Date.now() })
    const [key] = readKeyFiles(dir)
    if (!key) throw new Error('no key was made')
    const named = kid === undefined ? key : { ...key, public_key: { ...key.public_key, kid } }
    return await issueToken(named, buildTokenClaims(admin))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function revokeToken(what: { jti: string } | { subject: string }, token: string): Promise<string> {
  expect((await listSessions(token)).status).toBe(200)
  const body = { ...what, reason: 'test' }
  const path = '/api/v2/site/token/revocation'
  const answer = await world.site.request('site', { method: 'POST', path, token: world.admin, body })
  expect(answer.status, answer.text).toBe(200)
  return token
}

const listSessions = (token: string) =>
  world.site.request('consensus', { method: 'GET', path: '/api/v2/consensus/session', token })
const now_s = () => Math.floor(Date.now() / 1_000)
const publicKey = () => world.site.tokenKey().public_key.jwk as JsonWebKey
const exportPublicKey = () =>
  createPublicKey({ key: publicKey(), format: 'jwk' }).export({ format: 'pem', type: 'spki' })

const badTokens: Readonly<Record<string, () => string | Promise<string>>> = {
  expired: () => world.site.token(admin, { now_s: now_s() - 7_200 }),
  'not yet valid': () => world.site.token(admin, { now_s: now_s() + 7_200 }),
  'of another audience': () => world.site.token(admin, { aud: 'urn:platform:site:bravo' }),
  'of another issuer': () => world.site.token(admin, { iss: 'urn:platform:site:bravo' }),
  'alg none': () => buildToken({ alg: 'none' }),
  'alg none with a signature': () => buildToken({ alg: 'none' }, 'x'),
  'HS256 with the public key (PEM)': () => buildToken({ alg: 'HS256' }, exportPublicKey()),
  'HS256 with the public key (JWK)': () => buildToken({ alg: 'HS256' }, JSON.stringify(publicKey())),
  'HS256 with the public key (bytes)': () =>
    buildToken({ alg: 'HS256' }, Buffer.from(String(publicKey().x), 'base64url')),
  'the right algorithm, another signature': () => buildToken({ alg: 'Ed25519' }, 'x'),
  'a foreign key': () => signByForeignKey(),
  'a foreign key under our name': () => signByForeignKey(world.site.tokenKey().public_key.kid),
  'a key of its own in the header': () => buildToken({ alg: 'Ed25519', jwk: publicKey() }, 'x'),
  async 'changed in its claims'() {
    const [head, , signature] = (await world.site.token({ sub: 'eve' })).split('.')
    return `${head}.${encodeSegment(buildTokenClaims(admin))}.${signature}`
  },
  'revoked by its id': async () => revokeToken({ jti: 'tok_lost' }, await world.site.token(admin, { jti: 'tok_lost' })),
  'of a revoked subject': async () =>
    revokeToken({ subject: 'mallory' }, await world.site.token({ ...admin, sub: 'mallory' }, { now_s: now_s() - 10 })),
}

test.each(Object.keys(badTokens))('%s', async (name) => {
  const token = (await badTokens[name]?.()) ?? ''
  const before = await readStoredState(world)
  const requests = [
    await listSessions(token),
    await world.site.request('consensus', {
      method: 'POST',
      path: '/api/v2/consensus/session',
      token,
      body: buildSessionInput(),
    }),
    await world.site.request('site', { method: 'GET', path: '/api/v2/site/key', token }),
    await world.site.request('site', {
      method: 'POST',
      path: '/api/v2/site/token/revocation',
      token,
      body: { subject: 'ada', reason: 'x' },
    }),
  ]
  for (const answer of requests) {
    expect(expectProblem(answer, [401]).detail).toBe('the token is not valid')
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"')
  }
  expect(await readStoredState(world)).toEqual(before)
  const [, claims = '', signature = ''] = token.split('.')
  for (const part of [token, claims, signature].filter((text) => text !== '')) {
    expect(requests.map(({ text }) => text).join('')).not.toContain(part)
    expect(world.site.logged.join('\n')).not.toContain(part)
  }
})

test('a public operation takes a bad token for none', async () => {
  const token = await signByForeignKey()
  const answer = await world.site.request('consensus', { method: 'GET', path: '/health', token })
  expect(answer.status).toBe(200)
  expect(answer.json).not.toHaveProperty('dependencies')
})

test('a token in the query or a cookie does not count', async () => {
  const { site, admin: token } = world
  const path = '/api/v2/consensus/session'
  expectProblem(await site.request('consensus', { method: 'GET', path: `${path}?access_token=${token}` }), [401])
  expectProblem(await site.request('consensus', { method: 'GET', path, headers: { cookie: `token=${token}` } }), [401])
})

// Tokens that must not count: each is answered 401, stores nothing, and shows in no answer and no log.
import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { problemIn } from '../../support/every-operation/problem-rules.ts'
import { type Stage, sessionInput, stage } from '../../support/every-operation/stage.ts'
import { stored } from '../../support/every-operation/stored.ts'
import { claimsOf } from '../../support/small-site.ts'

let world: Stage
beforeAll(async () => {
  world = await stage()
})
afterAll(() => world?.site.close())

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const admin = { sub: 'eve', roles: ['admin'], clearance: { level: 'TOP_SECRET', categories: [] } }

/** Header and claims as given, signed by HMAC with the secret, or not at all. */
function handmade(header: Readonly<Record<string, unknown>>, secret?: string | Buffer): string {
  const signed = `${encoded({ typ: 'at+jwt', kid: world.site.tokenKey().public_key.kid, ...header })}.${encoded(claimsOf(admin))}`
  return `${signed}.${secret === undefined ? '' : createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function byForeignKey(kid?: string): Promise<string> {
  const dir = mkdtempSync(path.join(tmpdir(), 'foreign-key-'))
  try {
    await generateKey(dir, { use: 'token', now: Date.now() })
    const [key] = readKeyFiles(dir)
    if (!key) throw new Error('no key was made')
    const named = kid === undefined ? key : { ...key, public_key: { ...key.public_key, kid } }
    return await issueToken(named, claimsOf(admin))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function revoked(what: { jti: string } | { subject: string }, token: string): Promise<string> {
  expect((await read(token)).status).toBe(200)
  const body = { ...what, reason: 'test' }
  const path = '/api/v2/site/token/revocation'
  const answer = await world.site.ask('site', { method: 'POST', path, token: world.admin, body })
  expect(answer.status, answer.text).toBe(200)
  return token
}

const read = (token: string) => world.site.ask('consensus', { method: 'GET', path: '/api/v2/consensus/session', token })
const now_s = () => Math.floor(Date.now() / 1_000)
const publicKey = () => world.site.tokenKey().public_key.jwk as JsonWebKey
const spki = () => createPublicKey({ key: publicKey(), format: 'jwk' }).export({ format: 'pem', type: 'spki' })

const bad: Readonly<Record<string, () => string | Promise<string>>> = {
  expired: () => world.site.token(admin, { now_s: now_s() - 7_200 }),
  'not yet valid': () => world.site.token(admin, { now_s: now_s() + 7_200 }),
  'of another audience': () => world.site.token(admin, { aud: 'urn:platform:site:bravo' }),
  'of another issuer': () => world.site.token(admin, { iss: 'urn:platform:site:bravo' }),
  'alg none': () => handmade({ alg: 'none' }),
  'alg none with a signature': () => handmade({ alg: 'none' }, 'x'),
  'HS256 with the public key (PEM)': () => handmade({ alg: 'HS256' }, spki()),
  'HS256 with the public key (JWK)': () => handmade({ alg: 'HS256' }, JSON.stringify(publicKey())),
  'HS256 with the public key (bytes)': () =>
    handmade({ alg: 'HS256' }, Buffer.from(String(publicKey().x), 'base64url')),
  'the right algorithm, another signature': () => handmade({ alg: 'Ed25519' }, 'x'),
  'a foreign key': () => byForeignKey(),
  'a foreign key under our name': () => byForeignKey(world.site.tokenKey().public_key.kid),
  'a key of its own in the header': () => handmade({ alg: 'Ed25519', jwk: publicKey() }, 'x'),
  async 'changed in its claims'() {
    const [head, , signature] = (await world.site.token({ sub: 'eve' })).split('.')
    return `${head}.${encoded(claimsOf(admin))}.${signature}`
  },
  'revoked by its id': async () => revoked({ jti: 'tok_lost' }, await world.site.token(admin, { jti: 'tok_lost' })),
  'of a revoked subject': async () =>
    revoked({ subject: 'mallory' }, await world.site.token({ ...admin, sub: 'mallory' }, { now_s: now_s() - 10 })),
}

test.each(Object.keys(bad))('%s', async (name) => {
  const token = (await bad[name]?.()) ?? ''
  const before = await stored(world)
  const requests = [
    await read(token),
    await world.site.ask('consensus', {
      method: 'POST',
      path: '/api/v2/consensus/session',
      token,
      body: sessionInput(),
    }),
    await world.site.ask('site', { method: 'GET', path: '/api/v2/site/key', token }),
    await world.site.ask('site', {
      method: 'POST',
      path: '/api/v2/site/token/revocation',
      token,
      body: { subject: 'ada', reason: 'x' },
    }),
  ]
  for (const answer of requests) {
    expect(problemIn(answer, [401]).detail).toBe('the token is not valid')
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"')
  }
  expect(await stored(world)).toEqual(before)
  const [, claims = '', signature = ''] = token.split('.')
  for (const part of [token, claims, signature].filter((text) => text !== '')) {
    expect(requests.map(({ text }) => text).join('')).not.toContain(part)
    expect(world.site.logged.join('\n')).not.toContain(part)
  }
})

test('a public operation takes a bad token for none', async () => {
  const token = await byForeignKey()
  const answer = await world.site.ask('consensus', { method: 'GET', path: '/health', token })
  expect(answer.status).toBe(200)
  expect(answer.json).not.toHaveProperty('dependencies')
})

test('a token in the query or a cookie is no token', async () => {
  const { site, admin: token } = world
  const path = '/api/v2/consensus/session'
  problemIn(await site.ask('consensus', { method: 'GET', path: `${path}?access_token=${token}` }), [401])
  problemIn(await site.ask('consensus', { method: 'GET', path, headers: { cookie: `token=${token}` } }), [401])
})

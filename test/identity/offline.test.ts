// The offline provider and issuer over real keys and files: what counts, for how long, and what ends it at once.
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { max_ttl_s } from '../../adapters/identity/offline/issuer.ts'
import { fileRevocations, prepareRevocations } from '../../adapters/identity/offline/revocations.ts'
import { revokeKey, rotateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { credentialClaims } from '../../daemon/kernel/identity/identity.ts'
import { createFolder, createIdentityFixture, noon } from './identity-fixture.ts'

const ada = { sub: 'ada', tenant_id: 'alpha', roles: ['analyst'], clearance: { level: 'SECRET', categories: [] } }
const at = '2026-01-01T12:00:00.500Z'

describe('a minted token', () => {
  test('says who, for how long, and by whom; and the provider reads it so', async () => {
    const { issuer, provider } = await createIdentityFixture()
    const minted = await issuer.mint(ada)
    expect(minted).toMatchObject({ iat: noon / 1000, exp: noon / 1000 + 3600 })
    expect(minted.jti).toMatch(/^tok_[0-9a-f]{32}$/)
    expect(credentialClaims.parse(await provider.verify(minted.token))).toEqual({
      ...ada,
      jti: minted.jti,
      exp: minted.exp,
    })
    const body = JSON.parse(Buffer.from(minted.token.split('.')[1] ?? '', 'base64url').toString())
    expect(body).toMatchObject({ iss: 'urn:platform:site:alpha', aud: 'urn:platform:site:alpha', client_id: 'ada' })
  })

  test('lives 1 second to 30 days, and never beyond the given instant', async () => {
    const { issuer } = await createIdentityFixture()
    for (const ttl of [0, -1, 1.5, max_ttl_s + 1, Number.NaN])
      await expect(issuer.mint(ada, ttl)).rejects.toThrow(RangeError)
    expect((await issuer.mint(ada, max_ttl_s)).exp).toBe(noon / 1000 + max_ttl_s)
    expect((await issuer.mint(ada, 3600, noon / 1000 + 5)).exp).toBe(noon / 1000 + 5)
    await expect(issuer.mint({ ...ada, sub: '' })).rejects.toThrow()
  })

  test('for another audience is none of this site, not even to exchange', async () => {
    const { issuer, provider } = await createIdentityFixture()
    const { token } = await issuer.mint({ ...ada, aud: 'https://tools.example' })
    expect(await provider.verify(token)).toBeUndefined()
    expect(await issuer.verifySubject(token)).toBeUndefined()
  })

  test('keeps its whole chain of actors', async () => {
    const { issuer, provider } = await createIdentityFixture()
    const act = { sub: 'svc:gateway', act: { sub: 'svc:tool' } }
    const { token } = await issuer.mint({ ...ada, act, derived_from: ['tok_1'] })
    expect(await issuer.verifySubject(token)).toMatchObject({ act, derived_from: ['tok_1'] })
    expect(await provider.verify(token)).toMatchObject({ act })
  })
})

describe('a known token', () => {
  test('is not verified again, and is as expired as any other the moment it is', async () => {
    const { issuer, provider, clock, counts, refusals } = await createIdentityFixture()
    const { token } = await issuer.mint(ada, 600)
    for (let times = 0; times < 5; times += 1) expect(await provider.verify(token)).toBeDefined()
    expect(counts.verified).toBe(1)
    clock.now = noon + 659_000
    expect(await provider.verify(token)).toBeDefined()
    clock.now = noon + 660_000
    expect(await provider.verify(token)).toBeUndefined()
    expect(refusals).toEqual(['expired'])
  })

  test('gives way to newer ones, the least used first', async () => {
    const { issuer, provider, counts } = await createIdentityFixture(createFolder(), 2)
    const [a, b, c] = [await issuer.mint(ada), await issuer.mint(ada), await issuer.mint(ada)]
    for (const { token } of [a, b, a, c, a]) await provider.verify(token)
    expect(counts.verified).toBe(3)
    await provider.verify(b.token)
    expect(counts.verified).toBe(4)
  })

  test('falls with its key, and survives the rotation of it', async () => {
    const { issuer, provider, keysDir, key, refusals } = await createIdentityFixture()
    const { token } = await issuer.mint(ada)
    expect(await provider.verify(token)).toBeDefined()
    await rotateKey(keysDir, key.kid, { now: noon })
    expect(await provider.verify(token)).toBeDefined()
    revokeKey(keysDir, key.kid)
    expect(await provider.verify(token)).toBeUndefined()
    expect(refusals).toEqual(['key_revoked'])
    expect(await provider.verify((await issuer.mint(ada)).token)).toBeDefined()
  })
})

describe('revocation', () => {
  test('of a token by another process counts at once, cached or not, and for no other token', async () => {
    const { issuer, provider, file, refusals } = await createIdentityFixture()
    const [a, b] = [await issuer.mint(ada), await issuer.mint(ada)]
    expect(await provider.verify(a.token)).toBeDefined()
    fileRevocations(file).revoke({ jti: a.jti, at, reason: 'lost' })
    expect(await provider.verify(a.token)).toBeUndefined()
    expect(await provider.verify(a.token)).toBeUndefined()
    expect(await issuer.verifySubject(a.token)).toBeUndefined()
    expect(await provider.verify(b.token)).toBeDefined()
    expect(refusals).toEqual(['revoked', 'revoked'])
  })

  test('of a subject ends the tokens issued until then; later ones count', async () => {
    const { issuer, provider, clock, revocations } = await createIdentityFixture()
    const before = await issuer.mint(ada)
    const other = await issuer.mint({ ...ada, sub: 'bob' })
    expect(await provider.verify(before.token)).toBeDefined()
    revocations.revoke({ subject: 'ada', at, reason: 'left' })
    expect(await provider.verify(before.token)).toBeUndefined()
    expect(await provider.verify(other.token)).toBeDefined()
    clock.now = noon + 1000
    expect(await provider.verify((await issuer.mint(ada)).token)).toBeDefined()
    revocations.revoke({ subject: 'ada', at: '2025-01-01T00:00:00Z', reason: 'an older one takes nothing back' })
    expect(await provider.verify(before.token)).toBeUndefined()
  })

  test('of a token ends those that were exchanged from it', async () => {
    const { issuer, provider, revocations } = await createIdentityFixture()
    const first = await issuer.mint(ada)
    const derived = await issuer.mint({ ...ada, act: { sub: 'svc:gateway' }, derived_from: [first.jti] })
    expect(await provider.verify(derived.token)).toBeDefined()
    revocations.revoke({ jti: first.jti, at, reason: 'stolen' })
    expect(await provider.verify(derived.token)).toBeUndefined()
  })

  test('of an actor ends what it holds for others, however far back in the chain it stands', async () => {
    const { issuer, provider, revocations } = await createIdentityFixture()
    const near = await issuer.mint({ ...ada, act: { sub: 'svc:gateway' } })
    const far = await issuer.mint({ ...ada, act: { sub: 'svc:other', act: { sub: 'svc:gateway' } } })
    const own = await issuer.mint(ada)
    expect(await provider.verify(near.token)).toBeDefined()
    revocations.revoke({ subject: 'svc:gateway', at, reason: 'stolen' })
    expect(await provider.verify(near.token)).toBeUndefined()
    expect(await provider.verify(far.token)).toBeUndefined()
    expect(await provider.verify(own.token)).toBeDefined()
  })

  test('outlives its own `until`, since a token lives on within the skew', async () => {
    const { issuer, provider, clock, revocations } = await createIdentityFixture()
    const { token, jti, exp } = await issuer.mint(ada)
    revocations.revoke({ jti, at, until: new Date(exp * 1000).toISOString(), reason: 'lost' })
    clock.now = exp * 1000 + 1000
    expect(await provider.verify(token)).toBeUndefined()
  })

  test('survives a restart, in a file for its owner alone', async () => {
    const { issuer, file, revocations } = await createIdentityFixture()
    const { jti } = await issuer.mint(ada)
    revocations.revoke({ jti, at, reason: 'line\nbreak and "quotes"' })
    const token = { jti, sub: 'ada', iat: 0 }
    expect(fileRevocations(file).isRevoked(token)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2)
  })

  const harms: [string, (file: string) => void][] = [
    ['a line that is not JSON', (file) => appendFileSync(file, 'oops\n')],
    ['a line with an unknown field', (file) => appendFileSync(file, `{"jti":"x","at":"${at}","reason":"","more":1}\n`)],
    ['an empty line', (file) => appendFileSync(file, '\n')],
    ['a line cut by a crash', (file) => appendFileSync(file, `{"jti":"x","at":"${at}"`)],
    ['a file cut short', (file) => truncateSync(file, 0)],
    ['a file removed', (file) => rmSync(file)],
  ]
  test.each(harms)('cannot be judged with %s: unavailable, not allowed', async (_, harm) => {
    const { issuer, provider, revocations, file } = await createIdentityFixture()
    const { token } = await issuer.mint(ada)
    revocations.revoke({ jti: 'tok_other', at, reason: 'lost' })
    expect(await provider.verify(token)).toBeDefined()
    const whole = readFileSync(file)
    harm(file)
    for (let times = 0; times < 2; times += 1)
      await expect(provider.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
    writeFileSync(`${file}.repaired`, whole, { mode: 0o600 })
    renameSync(`${file}.repaired`, file)
    expect(await provider.verify(token)).toBeDefined()
  })

  test('after a line cut by a crash stands on a line of its own, so that mending loses nothing', () => {
    const file = prepareRevocations(createFolder())
    appendFileSync(file, '{"jti":"tok_x","at"')
    fileRevocations(file).revoke({ jti: 'tok_a', at, reason: 'lost' })
    const [cut, whole] = readFileSync(file, 'utf8').split('\n')
    expect(cut).toBe('{"jti":"tok_x","at"')
    writeFileSync(file, `${whole}\n`)
    expect(fileRevocations(file).isRevoked({ jti: 'tok_a', sub: 'ada', iat: 0 })).toBe(true)
  })

  test('never reads a half-written line as none: when the rest arrives, it counts', () => {
    const file = prepareRevocations(createFolder())
    const revocations = fileRevocations(file)
    const line = `${JSON.stringify({ jti: 'tok_a', at, reason: 'lost' })}\n`
    const token = { jti: 'tok_a', sub: 'ada', iat: 0 }
    expect(revocations.isRevoked(token)).toBe(false)
    appendFileSync(file, line.slice(0, 20))
    expect(() => revocations.isRevoked(token)).toThrow('cannot be read')
    appendFileSync(file, line.slice(20))
    expect(revocations.isRevoked(token)).toBe(true)
  })
})

test('rubbish is not a token, and never an exception', async () => {
  const { provider } = await createIdentityFixture()
  for (const text of ['', 'x', '..', 'a.b.c', '\u0000', 'é'.repeat(100), 'x'.repeat(100_000)]) {
    expect(await provider.verify(text)).toBeUndefined()
  }
})

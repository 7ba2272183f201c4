// Tokens under attack: each attack has succeeded against some other product, and fails here.
import { CompactSign, type CryptoKey, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { issueToken, max_token_bytes, type TokenPayload, verifyToken } from '../../adapters/keys/jose/tokens.ts'
import { keyAlgorithm } from '../../daemon/kernel/cryptography/signatures.ts'
import { createKey, createKeyFolderPath, decodeBase64url, encodeBase64url, noon } from './key-fixture.ts'

const site = 'urn:platform:site:alpha'
const expected = { issuer: site, audience: site, now: noon }
const noon_s = noon / 1000
const claims: TokenPayload = {
  iss: site,
  aud: site,
  sub: 'ada',
  tenant_id: 'alpha',
  roles: ['analyst'],
  jti: 'tok_1',
  iat: noon_s,
  exp: noon_s + 3600,
}

const createTokenKey = () => createKey(createKeyFolderPath(), 'token')

/** A token that the key really signed, under any header and body, be they no JSON at all. */
async function signToken(key: StoredKey, header: unknown, body: unknown): Promise<string> {
  const privateKey = (await importJWK({ ...key.private_jwk }, 'Ed25519')) as CryptoKey
  const input = `${encodeBase64url(header)}.${encodeBase64url(body)}`
  return `${input}.${Buffer.from(await crypto.subtle.sign('Ed25519', privateKey, Buffer.from(input))).toString('base64url')}`
}

const buildHeader = (key: StoredKey) => ({ alg: 'Ed25519', kid: key.public_key.kid, typ: 'at+jwt' })

test.each(keyAlgorithm.options)('a token of %s verifies, and fits the limit', async (algorithm) => {
  const key = await createKey(createKeyFolderPath(), 'token', algorithm)
  const token = await issueToken(key, claims)
  expect(token.length).toBeLessThan(max_token_bytes)
  expect(await verifyToken(token, [key.public_key], expected)).toEqual({ payload: claims })
})

describe('the algorithm is that of the pinned key', () => {
  test.each(['none', 'None', 'NONE', 'nOnE'])('alg %s', async (alg) => {
    const key = await createTokenKey()
    const token = `${encodeBase64url({ ...buildHeader(key), alg })}.${encodeBase64url(claims)}.`
    expect(await verifyToken(token, [key.public_key], expected)).toEqual({ refused: 'bad_signature' })
  })

  test('HS256 with the public key as its secret, in every form an attacker has it', async () => {
    const key = await createTokenKey()
    const x = String(key.public_key.jwk.x)
    for (const secret of [
      Buffer.from(x, 'base64url'),
      Buffer.from(x),
      Buffer.from(JSON.stringify(key.public_key.jwk)),
    ]) {
      const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ ...buildHeader(key), alg: 'HS256' })
        .sign(secret)
      expect(await verifyToken(token, [key.public_key], expected)).toEqual({ refused: 'bad_signature' })
    }
  })

  test('EdDSA, the older name, is not the name of the record', async () => {
    const key = await createTokenKey()
    expect(
      await verifyToken(
        await signToken(key, { ...buildHeader(key), alg: 'EdDSA' }, claims),
        [key.public_key],
        expected,
      ),
    ).toEqual({
      refused: 'bad_signature',
    })
  })
})

describe('the key is a pinned token key', () => {
  test('a foreign key under the same kid, and under its own', async () => {
    const [key, foreign] = [await createTokenKey(), await createTokenKey()]
    expect(await verifyToken(await signToken(foreign, buildHeader(key), claims), [key.public_key], expected)).toEqual({
      refused: 'bad_signature',
    })
    expect(await verifyToken(await issueToken(foreign, claims), [key.public_key], expected)).toEqual({
      refused: 'unknown_key',
    })
  })

  test('a message key does not speak for the issuer', async () => {
    const key = await createKey(createKeyFolderPath(), 'message')
    await expect(issueToken(key, claims)).rejects.toThrow('not an active token key')
    expect(await verifyToken(await signToken(key, buildHeader(key), claims), [key.public_key], expected)).toEqual({
      refused: 'unknown_key',
    })
  })

  test('a revoked key, a retired one, and one past its not_after', async () => {
    const key = await createTokenKey()
    const token = await issueToken(key, claims)
    const under = (change: object) => verifyToken(token, [{ ...key.public_key, ...change }], expected)
    expect(await under({ status: 'revoked' })).toEqual({ refused: 'key_revoked' })
    expect(await under({ status: 'retired' })).toEqual({ payload: claims })
    expect(await under({ not_after: '2026-01-01T11:58:00Z' })).toEqual({ refused: 'key_expired' })
    expect(await under({ fingerprint: 'A'.repeat(43) })).toEqual({ refused: 'bad_signature' })
  })

  test('a key that the header brings along is never looked at', async () => {
    const [key, foreign] = [await createTokenKey(), await createTokenKey()]
    const brought = [
      { jwk: foreign.public_key.jwk },
      { jku: 'https://attacker.example' },
      { x5c: ['AAAA'] },
      { x5u: 'https://attacker.example' },
    ]
    for (const more of brought) {
      for (const signer of [foreign, key]) {
        const token = await signToken(signer, { ...buildHeader(key), ...more }, claims)
        expect(await verifyToken(token, [key.public_key], expected)).toEqual({ refused: 'malformed' })
      }
    }
  })
})

describe('claims', () => {
  const refusals: [string, object, string][] = [
    ['expired', { exp: noon_s - 60 }, 'expired'],
    ['not yet valid', { nbf: noon_s + 61 }, 'not_yet_valid'],
    ['issued in the future', { iat: noon_s + 61 }, 'not_yet_valid'],
    ['of another issuer', { iss: 'urn:platform:site:bravo' }, 'wrong_issuer'],
    ['for another audience', { aud: 'urn:platform:site:bravo' }, 'wrong_audience'],
    ['for a list without this one', { aud: ['a', 'b'] }, 'wrong_audience'],
    ['without expiry', { exp: undefined }, 'malformed'],
    ['with expiry as text', { exp: '9999999999' }, 'malformed'],
    ['without id', { jti: undefined }, 'malformed'],
  ]
  test.each(refusals)('%s', async (_, change, refused) => {
    const key = await createTokenKey()
    const token = await signToken(key, buildHeader(key), { ...claims, ...change })
    expect(await verifyToken(token, [key.public_key], expected)).toEqual({ refused })
  })

  test('a token for one role counts there, and neither at another nor for the whole site', async () => {
    const key = await createTokenKey()
    const role_audience = `${site}:role:consensus`
    const token = await issueToken(key, { ...claims, aud: role_audience })
    const at = (where: object) => verifyToken(token, [key.public_key], { ...expected, ...where })
    expect(await at({ role_audience })).toHaveProperty('payload')
    for (const where of [{}, { role_audience: `${site}:role:site` }]) {
      expect(await at(where)).toEqual({ refused: 'wrong_audience' })
    }
  })

  test('clocks may differ by the skew, and by no more', async () => {
    const key = await createTokenKey()
    const late = await signToken(key, buildHeader(key), { ...claims, exp: noon_s - 59 })
    expect(await verifyToken(late, [key.public_key], expected)).toHaveProperty('payload')
    expect(await verifyToken(late, [key.public_key], { ...expected, skew_s: 0 })).toEqual({ refused: 'expired' })
    const early = await signToken(key, buildHeader(key), { ...claims, nbf: noon_s + 60 })
    expect(await verifyToken(early, [key.public_key], expected)).toHaveProperty('payload')
  })
})

describe('form', () => {
  test('repeated members in header or claims are refused even when signed', async () => {
    const key = await createTokenKey()
    const body = JSON.stringify(claims)
    const header = JSON.stringify(buildHeader(key))
    const roles = `${body.slice(0, -1)},"roles":["admin"]}`
    const algs = `{"alg":"none",${header.slice(1)}`
    expect(await verifyToken(await signToken(key, header, roles), [key.public_key], expected)).toEqual({
      refused: 'malformed',
    })
    expect(await verifyToken(await signToken(key, algs, body), [key.public_key], expected)).toEqual({
      refused: 'malformed',
    })
  })

  test('refuses a token of another type, or a file-drop signature, as an access token', async () => {
    const key = await createTokenKey()
    for (const typ of ['JWT', 'platform-statement+jws', 'AT+JWT', undefined]) {
      const token = await signToken(key, { ...buildHeader(key), typ }, claims)
      expect(await verifyToken(token, [key.public_key], expected)).toEqual({ refused: 'malformed' })
    }
  })

  test('oversized, cut, extended, or not a token at all', async () => {
    const key = await createTokenKey()
    const token = await issueToken(key, claims)
    const verdict = (text: string) => verifyToken(text, [key.public_key], expected)
    expect(await verdict(await signToken(key, buildHeader(key), { ...claims, pad: 'x'.repeat(8_192) }))).toEqual({
      refused: 'too_large',
    })
    await expect(issueToken(key, { ...claims, pad: 'x'.repeat(8_192) })).rejects.toThrow('at most 8192 are accepted')
    for (const text of ['', '.', '..', 'a.b.c', `${token}.x`, `${token}=`, ` ${token}`, token.slice(0, -3)]) {
      expect(await verdict(text), text).toHaveProperty('refused')
    }
    const [head = '', body = '', signature = ''] = token.split('.')
    const promoted = encodeBase64url({ ...decodeBase64url(body), roles: ['admin'] })
    expect(await verdict(`${head}.${promoted}.${signature}`)).toEqual({ refused: 'bad_signature' })
    expect(await verdict(await signToken(key, buildHeader(key), 'no json'))).toEqual({ refused: 'malformed' })
    expect(await verdict(await signToken(key, buildHeader(key), 'null'))).toEqual({ refused: 'malformed' })
  })
})

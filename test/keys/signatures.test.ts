// The worth of a signature: the pinned record decides, and nothing that travels with the message does.
import { type CryptoKey, flattenedVerify, GeneralSign, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { revokeKey, rotateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures, signWithKeys } from '../../adapters/keys/jose/signatures.ts'
import {
  type Jws,
  keyAlgorithm,
  type PublicKey,
  type VerificationFailure,
  type VerifiedPayload,
} from '../../daemon/kernel/cryptography/signatures.ts'
import { createKey, createKeyFolderPath, decodeBase64url, encodeBase64url, noon } from './key-fixture.ts'

const payload = Buffer.from('{"kind":"contribution"}')

async function createSigner() {
  const dir = createKeyFolderPath()
  const key = await createKey(dir)
  const signatures = joseSignatures({ dir, now: () => noon })
  const envelope = await signatures.sign('statement', payload)
  const only = envelope.signatures[0]
  if (!only) throw new Error('nothing was signed')
  return { dir, key, signatures, envelope, only, pinned: [key.public_key] }
}

/** The kids that a verification names, sorted; its refusal when it is one. */
function listKids(outcome: VerifiedPayload | VerificationFailure): string[] {
  return typeof outcome === 'string' ? [outcome] : outcome.keys.map((key) => key.kid).sort()
}

/** A signature that really holds over a header of the attacker's choice. */
async function signUnderHeader(key: StoredKey, header: Record<string, unknown>): Promise<Jws> {
  const imported = await importJWK({ ...key.private_jwk }, key.public_key.algorithm)
  const signing = new GeneralSign(payload)
  signing.addSignature(imported).setProtectedHeader({ alg: key.public_key.algorithm, ...header })
  return (await signing.sign()) as Jws
}

/** The same by hand, where the library would refuse to write such a header. */
async function signHeaderText(key: StoredKey, header: string): Promise<Jws> {
  const privateKey = (await importJWK({ ...key.private_jwk }, 'Ed25519')) as CryptoKey
  const text = encodeBase64url(header)
  const made = await crypto.subtle.sign('Ed25519', privateKey, Buffer.from(`${text}.${payload.toString('base64url')}`))
  const signature = Buffer.from(made).toString('base64url')
  return { payload: payload.toString('base64url'), signatures: [{ protected: text, signature }] }
}

describe.each(keyAlgorithm.options)('with a key of %s', (algorithm) => {
  test('a signature verifies, names its signer, and another verifier agrees', async () => {
    const dir = createKeyFolderPath()
    const { public_key } = await createKey(dir, 'message', algorithm)
    const signatures = joseSignatures({ dir, now: () => noon })
    const envelope = await signatures.sign('evidence', payload)
    const verified = await signatures.verify('evidence', envelope, signatures.publicKeys())
    expect(verified).toEqual({ payload: new Uint8Array(payload), keys: [public_key] })
    const key = await importJWK({ ...public_key.jwk }, algorithm)
    const [signature] = envelope.signatures
    await flattenedVerify({ payload: envelope.payload, protected: '', signature: '', ...signature }, key)
    expect(decodeBase64url(signature?.protected ?? '')).toEqual({
      alg: algorithm,
      kid: public_key.kid,
      typ: 'platform-evidence+jws',
    })
  })

  test('a changed payload, signature or header does not hold', async () => {
    const dir = createKeyFolderPath()
    const key = await createKey(dir, 'message', algorithm)
    const { verify } = joseSignatures({ dir })
    const pinned = [key.public_key]
    const envelope = await signWithKeys([key], 'statement', payload)
    const only = envelope.signatures[0] ?? { protected: '', signature: '' }
    const bytes = Buffer.from(only.signature, 'base64url')
    bytes[7] = (bytes[7] ?? 0) ^ 1
    const changed: Jws[] = [
      { ...envelope, payload: encodeBase64url('{"kind":"result"}') },
      { ...envelope, signatures: [{ ...only, signature: bytes.toString('base64url') }] },
      { ...envelope, signatures: [{ ...only, signature: '' }] },
      {
        ...envelope,
        signatures: [
          {
            ...only,
            protected: encodeBase64url({ typ: 'platform-statement+jws', alg: algorithm, kid: key.public_key.kid }),
          },
        ],
      },
    ]
    for (const each of changed) expect(await verify('statement', each, pinned)).toBe('bad_signature')
  })
})

test('a signature for one thing never stands in for another', async () => {
  const { signatures, key, pinned } = await createSigner()
  const evidence = await signWithKeys([key], 'evidence', payload)
  expect(await signatures.verify('statement', evidence, pinned)).toBe('bad_signature')
  expect(await signatures.verify('checkpoint', evidence, pinned)).toBe('bad_signature')
})

test('the header names neither the algorithm nor the key: none, HS256, and another kind of key are refused', async () => {
  const { signatures, key, envelope, only, pinned } = await createSigner()
  const { kid } = key.public_key
  const typ = 'platform-statement+jws'
  const under = (header: unknown, signature = only.signature): Jws => ({
    ...envelope,
    signatures: [{ protected: encodeBase64url(header), signature }],
  })
  expect(await signatures.verify('statement', under({ alg: 'none', kid, typ }, ''), pinned)).toBe('bad_signature')

  const secret = await crypto.subtle.importKey(
    'raw',
    Buffer.from(String(key.public_key.jwk.x), 'base64url'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const header = encodeBase64url({ alg: 'HS256', kid, typ })
  const mac = await crypto.subtle.sign('HMAC', secret, Buffer.from(`${header}.${envelope.payload}`))
  const forged = { ...envelope, signatures: [{ protected: header, signature: Buffer.from(mac).toString('base64url') }] }
  expect(await signatures.verify('statement', forged, pinned)).toBe('bad_signature')

  const foreign = await createKey(createKeyFolderPath(), 'message', 'ES384')
  expect(await signatures.verify('statement', await signUnderHeader(foreign, { kid, typ }), pinned)).toBe(
    'bad_signature',
  )
})

test('a foreign key under a pinned name is bad; under its own name it is unknown', async () => {
  const { signatures, key, pinned } = await createSigner()
  const foreign = await createKey(createKeyFolderPath())
  const masked = await signUnderHeader(foreign, { kid: key.public_key.kid, typ: 'platform-statement+jws' })
  expect(await signatures.verify('statement', masked, pinned)).toBe('bad_signature')
  expect(await signatures.verify('statement', await signWithKeys([foreign], 'statement', payload), pinned)).toBe(
    'unknown_key',
  )
})

test('a header that brings a key, asks for more, or repeats itself is refused even when its signature holds', async () => {
  const { signatures, key, pinned } = await createSigner()
  const base = { alg: 'Ed25519', kid: key.public_key.kid, typ: 'platform-statement+jws' }
  const plain = JSON.stringify(base)
  expect(await signatures.verify('statement', await signHeaderText(key, plain), pinned)).toMatchObject({ keys: pinned })
  const texts = [
    ...[
      { jwk: key.public_key.jwk },
      { jku: 'https://attacker.example/keys' },
      { x5c: ['AAAA'] },
      { x5u: 'https://attacker.example/cert' },
      { crit: ['b64'], b64: false },
      { b64: true },
      { crit: ['exp'], exp: 1 },
      { crit: [] },
      { extra: 1 },
    ].map((more) => JSON.stringify({ ...base, ...more })),
    `{"kid":"someone",${plain.slice(1)}`,
    `${plain.slice(0, -1)},"kid":"${base.kid}"}`,
    `${plain} `,
    plain.replace('"kid"', '"k\\u0069d"'),
    plain.replace('}', ',"__proto__":{"kid":"x"}}'),
    `[${plain}]`,
    'null',
  ]
  for (const text of texts)
    expect(await signatures.verify('statement', await signHeaderText(key, text), pinned), text).toBe('bad_signature')
})

test('bytes have one spelling: base64url with spare bits, padding or another alphabet is refused', async () => {
  const { signatures, envelope, only, pinned } = await createSigner()
  const variants: Jws[] = [
    { ...envelope, payload: `${envelope.payload}=` },
    { ...envelope, payload: `${envelope.payload}\n` },
    { ...envelope, signatures: [{ ...only, signature: `${only.signature}==` }] },
    {
      ...envelope,
      signatures: [{ ...only, signature: only.signature.slice(0, -1) + (only.signature.endsWith('g') ? 'h' : 'B') }],
    },
    { ...envelope, signatures: [{ ...only, protected: `${only.protected} ` }] },
  ]
  for (const each of variants) expect(await signatures.verify('statement', each, pinned)).toBe('bad_signature')
  const unprotected = { ...envelope, signatures: [{ ...only, ...{ header: { kid: 'x' } } }] }
  expect(await signatures.verify('statement', unprotected, pinned)).toBe('bad_signature')
})

test('distinct keys are counted by key: one key under two names, or signing twice, counts once', async () => {
  const { dir, signatures, key } = await createSigner()
  const alias: PublicKey = { ...key.public_key, kid: 'message-another-name' }
  const twice = await signWithKeys([key, { ...key, public_key: alias }, key], 'statement', payload)
  const once = await signatures.verify('statement', twice, [key.public_key, alias])
  expect(once).toMatchObject({ keys: [{ fingerprint: key.public_key.fingerprint }] })
  expect(listKids(once)).toHaveLength(1)

  const lying: PublicKey = { ...alias, fingerprint: 'A'.repeat(43) }
  const both = await signatures.verify('statement', twice, [key.public_key, lying])
  expect(listKids(both)).toEqual([key.public_key.kid])

  const second = await createKey(dir)
  const envelope = await signatures.sign('statement', payload)
  const two = await signatures.verify('statement', envelope, signatures.publicKeys())
  expect(listKids(two)).toEqual([key.public_key.kid, second.public_key.kid].sort())
})

test('a key revoked under one name is revoked under all; a retired one still verifies and signs no more', async () => {
  const { dir, signatures, key, envelope } = await createSigner()
  const { created } = await rotateKey(dir, key.public_key.kid, { now: noon })
  expect(await signatures.verify('statement', envelope, signatures.publicKeys())).toMatchObject({
    keys: [{ status: 'retired' }],
  })
  const later = await signatures.sign('statement', payload)
  expect(later.signatures.map((each) => decodeBase64url(each.protected).kid)).toEqual([created.kid])

  const revoked = revokeKey(dir, key.public_key.kid)
  expect(await signatures.verify('statement', envelope, signatures.publicKeys())).toBe('key_revoked')
  const alias: PublicKey = { ...revoked, kid: 'other', status: 'active' }
  const renamed = await signWithKeys([{ ...key, public_key: alias }], 'statement', payload)
  expect(await signatures.verify('statement', renamed, [revoked, alias])).toBe('key_revoked')
})

test('a newer, unpinned signature beside a pinned one does not count, and does not spoil it', async () => {
  const { signatures, key, pinned } = await createSigner()
  const newer = await createKey(createKeyFolderPath(), 'message', 'ML-DSA-87')
  const envelope = await signWithKeys([newer, key], 'statement', payload)
  expect(await signatures.verify('statement', envelope, pinned)).toMatchObject({ keys: pinned })
})

test('a token key signs no message, and is not accepted for one', async () => {
  const { signatures } = await createSigner()
  const token = await createKey(createKeyFolderPath(), 'token')
  await expect(signWithKeys([token], 'statement', payload)).rejects.toThrow('is a token key')
  const forced = await signUnderHeader(token, { kid: token.public_key.kid, typ: 'platform-statement+jws' })
  expect(await signatures.verify('statement', forced, [token.public_key])).toBe('unknown_key')
})

test('without an active message key, or past its not_after, nothing is signed', async () => {
  const dir = createKeyFolderPath()
  await expect(joseSignatures({ dir }).sign('statement', payload)).rejects.toMatchObject({ code: 'unavailable' })
  const { public_key } = await createKey(dir)
  const { created } = await rotateKey(dir, public_key.kid, { now: noon, not_after: '2026-02-01T00:00:00Z' })
  const at = (now: string) => joseSignatures({ dir, now: () => Date.parse(now) }).sign('statement', payload)
  expect((await at('2026-01-31T23:59:59Z')).signatures).toHaveLength(1)
  expect((await at('2026-02-01T00:00:00Z')).signatures).toHaveLength(1)
  await expect(at('2026-02-01T00:00:00.001Z')).rejects.toMatchObject({ code: 'unavailable' })
  expect(created.not_after).toBe('2026-02-01T00:00:00Z')
})

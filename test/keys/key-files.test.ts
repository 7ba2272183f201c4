// Keys at rest: private to their owner, whole after any crash, and one name for one key.
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { exportJwks, importJwks } from '../../adapters/keys/jose/jwks.ts'
import { readKeyFiles, storedKey } from '../../adapters/keys/jose/key-files.ts'
import { generateKey, listKeys, revokeKey, rotateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { tokenKey } from '../../adapters/keys/jose/token-keys.ts'
import { keySet } from '../../daemon/kernel/cryptography/key-set.ts'
import { computeThumbprint, parsePublicJwk, readKeyMaterial } from '../../daemon/kernel/cryptography/public-jwk.ts'
import { keyAlgorithm, type PublicKey, publicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { peer } from '../../daemon/kernel/identity/peer.ts'
import { personalKey } from '../../daemon/kernel/identity/person.ts'
import { createKey, createKeyFolderPath, noon } from './key-fixture.ts'

describe.each(keyAlgorithm.options)('a key of %s', (algorithm) => {
  test('is written for its owner alone, and reads back as a record of the kernel', async () => {
    const dir = createKeyFolderPath()
    const key = await generateKey(dir, { use: 'message', algorithm, now: noon })
    expect(publicKey.parse(key)).toEqual(key)
    expect(key.kid).toBe(`message-${key.fingerprint.slice(0, 16)}`)
    expect(listKeys(dir)).toEqual([key])
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, `${key.kid}.json`)).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual([`${key.kid}.json`])
    expect(JSON.stringify(key)).not.toContain(
      String(readKeyFiles(dir)[0]?.private_jwk?.[algorithm === 'ML-DSA-87' ? 'priv' : 'd']),
    )
  })

  test('has the RFC 7638 thumbprint that jose computes', async () => {
    const pair = await generateKeyPair(algorithm)
    const jwk = await exportJWK(pair.publicKey)
    const own = parsePublicJwk(algorithm, jwk)
    expect(own && computeThumbprint(own)).toBe(await calculateJwkThumbprint(jwk))
  })

  test('goes out as a JWKS without its private half, and comes back the same', async () => {
    const dir = createKeyFolderPath()
    const { public_key, private_jwk } = await createKey(dir, 'message', algorithm)
    const jwks = exportJwks(dir)
    expect(importJwks(JSON.parse(JSON.stringify(jwks)))).toEqual([public_key])
    expect(JSON.stringify(jwks)).not.toContain(String(private_jwk?.[algorithm === 'ML-DSA-87' ? 'priv' : 'd']))
  })
})

test('RFC 8037 appendix A.3: the thumbprint of the example key', () => {
  const jwk = parsePublicJwk('Ed25519', {
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  })
  expect(jwk && computeThumbprint(jwk)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
})

test('a key with other spare bits is not a key: one key has one fingerprint', async () => {
  const { public_key } = await createKey(createKeyFolderPath())
  const x = String(public_key.jwk.x)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = x.slice(0, -1) + alphabet[alphabet.indexOf(x.slice(-1)) + 1]
  expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(x, 'base64url'))
  expect(parsePublicJwk('Ed25519', { ...public_key.jwk, x: other })).toBeUndefined()
  expect(readKeyMaterial({ ...public_key, fingerprint: 'A'.repeat(43) })).toBeUndefined()
})

test('a key file or folder that others may read is refused with its remedy, and without its content', async () => {
  const dir = createKeyFolderPath()
  const { public_key, private_jwk } = await createKey(dir)
  const file = join(dir, `${public_key.kid}.json`)
  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    chmodSync(file, mode)
    expect(() => readKeyFiles(dir)).toThrow(`chmod 600 ${file}`)
  }
  chmodSync(file, 0o600)
  chmodSync(dir, 0o750)
  expect(() => readKeyFiles(dir)).toThrow(`chmod 700 ${dir}`)
  chmodSync(dir, 0o700)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, whole.slice(0, -20))
  expect(() => readKeyFiles(dir)).toThrow('is not JSON')
  expect(() => readKeyFiles(dir)).not.toThrow(String(private_jwk?.d))
})

test('a file under another name, a link, a stranger, and a swapped private half are refused', async () => {
  const dir = createKeyFolderPath()
  const first = await createKey(dir)
  const second = await createKey(dir, 'token')
  const file = join(dir, `${first.public_key.kid}.json`)
  const aside = join(dir, '..', 'aside.json')

  renameSync(file, join(dir, 'message-AAAAAAAAAAAAAAAA.json'))
  expect(() => readKeyFiles(dir)).toThrow('does not hold the key it is named after')
  renameSync(join(dir, 'message-AAAAAAAAAAAAAAAA.json'), aside)
  symlinkSync(aside, file)
  expect(() => readKeyFiles(dir)).toThrow('is a link')
  renameSync(aside, file)

  writeFileSync(file, JSON.stringify({ ...first, private_jwk: second.private_jwk }))
  expect(() => readKeyFiles(dir)).toThrow('does not belong to its public key')
  writeFileSync(file, JSON.stringify(first))
  writeFileSync(join(dir, 'notes.txt'), '', { mode: 0o600 })
  expect(() => readKeyFiles(dir)).toThrow('is not a key file')
})

test('leftovers of a crash are not keys', async () => {
  const dir = createKeyFolderPath()
  const { public_key } = await createKey(dir)
  writeFileSync(join(dir, `.${public_key.kid}.0123456789ab.tmp`), '{"public_', { mode: 0o600 })
  expect(listKeys(dir)).toEqual([public_key])
})

test('rotation makes a new active key of the same algorithm and retires the old; revocation ends one for good', async () => {
  const dir = createKeyFolderPath()
  const { public_key } = await createKey(dir, 'message', 'ES384')
  const { created, retired } = await rotateKey(dir, public_key.kid, { now: noon + 1000 })
  expect(created).toMatchObject({ status: 'active', algorithm: 'ES384', use: 'message' })
  expect(retired).toEqual({ ...public_key, status: 'retired' })
  expect(listKeys(dir)).toEqual([retired, created])
  await expect(rotateKey(dir, public_key.kid, { now: noon })).rejects.toThrow('is retired')

  const revoked = revokeKey(dir, public_key.kid)
  expect(revoked.status).toBe('revoked')
  const onDisk = readFileSync(join(dir, `${public_key.kid}.json`), 'utf8')
  expect(onDisk).not.toContain('private_jwk')
  expect(exportJwks(dir).keys.map((key) => key.kid)).toEqual([created.kid])
  expect(() => revokeKey(dir, 'message-unknown')).toThrow('there is no key')
})

describe('a record of a key from outside', () => {
  const falsehoods: Readonly<Record<string, [(key: PublicKey, other: PublicKey) => object, string]>> = {
    'the fingerprint of another key': [
      (_, { fingerprint }) => ({ fingerprint }),
      'must have the fingerprint of the key',
    ],
    'another algorithm': [() => ({ algorithm: 'ES384' }), 'must be exactly a public key of the algorithm ES384'],
    'the key of another record': [(_, { jwk }) => ({ jwk }), 'must have the fingerprint of the key'],
    'a private member': [({ jwk }) => ({ jwk: { ...jwk, d: 'AAAA' } }), 'holds the private member'],
    'an unknown member': [({ jwk }) => ({ jwk: { ...jwk, x5c: [] } }), 'must be exactly a public key'],
    'no key': [() => ({ jwk: {} }), 'must be exactly a public key'],
  }

  test.each(Object.entries(falsehoods))(
    'with %s is refused in every document that holds one',
    async (_, [lie, message]) => {
      const { public_key } = await createKey(createKeyFolderPath())
      const { public_key: other } = await createKey(createKeyFolderPath(), 'message', 'ML-DSA-87')
      const { public_key: twin } = await createKey(createKeyFolderPath())
      const row = { ...public_key, ...lie(public_key, 'jwk' in lie(public_key, twin) ? twin : other) }
      expect(() => publicKey.parse(row)).toThrow(message)
      const documents: readonly [z.ZodType, object][] = [
        [keySet.shape.keys.element, row],
        [personalKey, { ...row, use: 'personal' }],
        [tokenKey, { ...row, use: 'token' }],
        [peer.shape.keys.element, row],
        [storedKey, { public_key: row }],
      ]
      for (const [schema, document] of documents) expect(() => schema.parse(document)).toThrow(message)
    },
  )
})

test('a JWKS cannot bring a false fingerprint or algorithm, a private member or an unknown algorithm', async () => {
  const dir = createKeyFolderPath()
  const { public_key, private_jwk } = await createKey(dir)
  const [entry] = exportJwks(dir).keys
  const { platform_fingerprint, ...withoutFingerprint } = entry ?? {}
  expect(importJwks({ keys: [withoutFingerprint] })).toEqual([public_key])
  const lying = { keys: [{ ...entry, platform_fingerprint: 'A'.repeat(43) }] }
  expect(() => importJwks(lying)).toThrow(`has the fingerprint ${platform_fingerprint}, and the file states AAA`)
  expect(() => importJwks({ keys: [{ ...entry, d: private_jwk?.d }] })).toThrow('holds the private member "d"')
  for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'])
    expect(() => importJwks({ keys: [{ ...entry, [member]: 'AAAA' }] })).toThrow(`the private member "${member}"`)
  expect(() => importJwks({ keys: [{ ...entry, alg: 'ES384' }] })).toThrow(
    'is a key of Ed25519, and its "alg" is ES384',
  )
  expect(() => importJwks({ keys: [{ ...entry, kty: 'oct' }] })).toThrow('not a key of a known algorithm')
  expect(() => importJwks({ keys: [] })).toThrow('not a JWKS')
  expect(existsSync(dir)).toBe(true)
})

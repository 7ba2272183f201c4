// Private keys under a passphrase: what lies on the disk tells nothing, and a wrong passphrase learns nothing.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompactEncrypt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { importSigningKey } from '../../adapters/keys/jose/crypto-keys.ts'
import { readKeyFiles, type StoredKey, writeKeyFile } from '../../adapters/keys/jose/key-files.ts'
import {
  generateKey,
  requirePassphraseOpens,
  rotateKey,
  unwrapKeys,
  wrapKeys,
} from '../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures, signWithKeys, verifyJws } from '../../adapters/keys/jose/signatures.ts'
import { KeyLockedError, unwrapKey, wrapKey } from '../../adapters/keys/jose/wrapped-key.ts'
import { keyAlgorithm } from '../../daemon/kernel/cryptography/signatures.ts'
import { createKey, createKeyFolderPath, noon } from './key-fixture.ts'

const passphrase = 'correct horse battery staple'
const payload = Buffer.from('{}')

describe.each(keyAlgorithm.options)('a key of %s', (algorithm) => {
  test('lies under its passphrase alone, signs once it is opened, and comes out the same', async () => {
    const dir = createKeyFolderPath()
    const { public_key, private_jwk } = await createKey(dir, 'message', algorithm)
    expect(await wrapKeys(dir, passphrase)).toEqual([public_key.kid])
    const file = join(dir, `${public_key.kid}.json`)
    const text = readFileSync(file, 'utf8')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual([`${public_key.kid}.json`])
    for (const part of [private_jwk?.d, private_jwk?.priv, 'private_jwk'].filter(Boolean))
      expect(text).not.toContain(part)
    const { p2c, ...header } = decodeProtectedHeader(JSON.parse(text).private_jwe)
    expect(header).toMatchObject({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM' })
    expect(p2c).toBeGreaterThanOrEqual(600_000)
    const made = await joseSignatures({ dir, now: () => noon, passphrase: () => passphrase }).sign('evidence', payload)
    expect(await verifyJws('evidence', made, [public_key])).toMatchObject({ keys: [public_key] })
    expect(await unwrapKeys(dir, passphrase)).toEqual([public_key.kid])
    expect(readKeyFiles(dir)).toEqual([{ public_key, private_jwk }])
  })

  test('is made under it, and so is its successor', async () => {
    const dir = createKeyFolderPath()
    const { kid } = await generateKey(dir, { use: 'message', algorithm, now: noon, passphrase })
    await rotateKey(dir, kid, { now: noon + 1_000, passphrase })
    expect(readKeyFiles(dir).map(({ private_jwk, private_jwe }) => [private_jwk, typeof private_jwe])).toEqual([
      [undefined, 'string'],
      [undefined, 'string'],
    ])
    await requirePassphraseOpens(dir, passphrase)
  })
})

async function createWrappedKey(): Promise<StoredKey> {
  return await wrapKey(await createKey(createKeyFolderPath()), passphrase)
}

async function readUnlockRefusal(key: StoredKey, word: string | undefined): Promise<{ why: string; message: string }> {
  const error = await unwrapKey(key, word).catch((thrown: unknown) => thrown)
  if (!(error instanceof KeyLockedError)) throw new Error('it was opened')
  return { why: error.why, message: error.message }
}

/** The file as an attacker with write access would write it. */
async function rewrapKey(key: StoredKey, alg: string, parameters: object, secret = passphrase): Promise<StoredKey> {
  const opened = await unwrapKey(key, passphrase)
  const making = new CompactEncrypt(Buffer.from(JSON.stringify(opened.private_jwk)))
  making.setProtectedHeader({ alg, enc: 'A256GCM' }).setKeyManagementParameters(parameters)
  const bytes = alg === 'dir' ? Buffer.alloc(32, secret) : Buffer.from(secret)
  return { public_key: key.public_key, private_jwe: await making.encrypt(bytes) }
}

test('reports every cause in the same words: a wrong passphrase, a changed file, another key', async () => {
  const key = await createWrappedKey()
  const other = await createWrappedKey()
  const jwe = key.private_jwe ?? ''
  const parts = jwe.split('.')
  const flipped = (at: number) =>
    parts.map((part, index) => (index === at ? `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}` : part)).join('.')
  const wrong = await readUnlockRefusal(key, 'correct horse battery stable')
  expect(wrong).toEqual({ why: 'wrong_passphrase', message: `the passphrase does not open ${key.public_key.kid}` })
  const changed = [0, 1, 2, 3, 4].map((at) => ({ ...key, private_jwe: flipped(at) }))
  const swapped = { ...key, private_jwe: other.private_jwe ?? '' }
  const empty = { ...key, private_jwe: '' }
  for (const each of [...changed, swapped, empty]) expect(await readUnlockRefusal(each, passphrase)).toEqual(wrong)
  expect(await readUnlockRefusal(key, '')).toEqual(wrong)
  expect(await readUnlockRefusal(key, undefined)).toMatchObject({ why: 'no_passphrase' })
})

test('another algorithm, or so many rounds that a start would hang, is not tried', async () => {
  const key = await createWrappedKey()
  const others = [
    await rewrapKey(key, 'PBES2-HS256+A128KW', { p2c: 1_000 }),
    await rewrapKey(key, 'dir', {}),
    { ...key, private_jwe: setRounds(key.private_jwe ?? '', 2_000_000_000) },
  ]
  for (const each of others)
    expect(await readUnlockRefusal(each, passphrase)).toMatchObject({ why: 'wrong_passphrase' })
})

function setRounds(jwe: string, p2c: number): string {
  const [header = '', ...rest] = jwe.split('.')
  const changed = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), p2c }
  return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.')
}

test('requests the passphrase once for each key, and again after a wrong one', async () => {
  const key = await createWrappedKey()
  const answers = ['a wrong passphrase', passphrase]
  let attempts = 0
  const next = () => {
    attempts += 1
    return answers.shift()
  }
  await expect(importSigningKey(key, next)).rejects.toThrow(KeyLockedError)
  const opened = await Promise.all([importSigningKey(key, next), importSigningKey(key, next)])
  expect(opened[0]).toBe(opened[1])
  await signWithKeys([key], 'evidence', payload, next)
  expect(attempts).toBe(2)
})

test('a file with the key in the open and under a passphrase is refused; nothing is half unwrapped', async () => {
  const dir = createKeyFolderPath()
  const open = await createKey(dir)
  const both = { ...open, ...(await wrapKey(open, passphrase)) }
  writeFileSync(join(dir, `${open.public_key.kid}.json`), JSON.stringify(both), { mode: 0o600 })
  expect(() => readKeyFiles(dir)).toThrow('is not a key file')
  writeKeyFile(dir, await wrapKey(open, passphrase))
  await generateKey(dir, { use: 'token', now: noon, passphrase: 'another passphrase' })
  const before = readKeyFiles(dir)
  await expect(unwrapKeys(dir, passphrase)).rejects.toThrow(KeyLockedError)
  expect(readKeyFiles(dir)).toEqual(before)
})

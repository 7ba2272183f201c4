// A key's life: generated, rotated out, revoked. Each step leaves files that a crash cannot make worse.
import { exportJWK, generateKeyPair } from 'jose'
import { computeThumbprint, parsePublicJwk } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { KeyAlgorithm, PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { readKeyFiles, type StoredKey, writeKeyFile } from './key-files.ts'
import { unwrapKey, wrapKey } from './wrapped-key.ts'

export type NewKeyOptions = {
  readonly use: PublicKey['use']
  /** Default: Ed25519. */
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  /** ISO 8601 instant after which it signs no more. */
  readonly not_after?: string
  /** Passphrase to encrypt the private half with; default: not encrypted. */
  readonly passphrase?: string | undefined
}

/** Makes an active key, `<use>-<first 16 characters of the thumbprint>`, and writes it to the folder. */
export async function generateKey(dir: string, given: NewKeyOptions): Promise<PublicKey> {
  const algorithm = given.algorithm ?? 'Ed25519'
  const pair = await generateKeyPair(algorithm, { extractable: true })
  const private_jwk = { ...(await exportJWK(pair.privateKey)) }
  const jwk = parsePublicJwk(algorithm, private_jwk)
  if (!jwk) throw new Error(`the platform made no usable ${algorithm} key`)
  const fingerprint = computeThumbprint(jwk)
  const public_key: PublicKey = {
    kid: `${given.use}-${fingerprint.slice(0, 16)}`,
    algorithm,
    fingerprint,
    use: given.use,
    status: 'active',
    created: new Date(given.now).toISOString(),
    ...(given.not_after === undefined ? {} : { not_after: given.not_after }),
    jwk: { ...jwk },
  }
  const key = { public_key, private_jwk }
  writeKeyFile(dir, given.passphrase === undefined ? key : await wrapKey(key, given.passphrase))
  return public_key
}

/** The public records, oldest first. */
export function listKeys(dir: string): PublicKey[] {
  return readKeyFiles(dir).map((key) => key.public_key)
}

/**
 * Puts a new active key in the place of this one, which retires: it signs no more and still verifies. The new one is
 * on disk first: after a crash between the two there are two active keys, never none.
 */
export async function rotateKey(
  dir: string,
  kid: string,
  given: Omit<NewKeyOptions, 'use'>,
): Promise<{ created: PublicKey; retired: PublicKey }> {
  const old = findKey(dir, kid)
  if (old.public_key.status !== 'active')
    throw new Error(`${kid} is ${old.public_key.status}; only an active key rotates`)
  const created = await generateKey(dir, { algorithm: old.public_key.algorithm, ...given, use: old.public_key.use })
  const retired: PublicKey = { ...old.public_key, status: 'retired' }
  // It keeps its private half: the next key set is signed by the keys of the last one as well.
  writeKeyFile(dir, { ...old, public_key: retired })
  return { created, retired }
}

/** Ends a key for good: nothing verifies with it from now on, and its private half is gone from the folder. */
export function revokeKey(dir: string, kid: string): PublicKey {
  const revoked: PublicKey = { ...findKey(dir, kid).public_key, status: 'revoked' }
  writeKeyFile(dir, { public_key: revoked })
  return revoked
}

/** Puts the private half of every key of the folder, or of those of one use, under the passphrase; the kids of those that were in the open. */
export async function wrapKeys(dir: string, passphrase: string, use?: PublicKey['use']): Promise<string[]> {
  const wanted = readKeyFiles(dir).filter(({ public_key }) => use === undefined || public_key.use === use)
  const open = wanted.filter(({ private_jwk }) => private_jwk !== undefined)
  for (const key of open) writeKeyFile(dir, await wrapKey(key, passphrase))
  return open.map(({ public_key }) => public_key.kid)
}

/** Decrypts the keys again. Throws `KeyLockedError` before anything is written. */
export async function unwrapKeys(dir: string, passphrase: string): Promise<string[]> {
  const closed = readKeyFiles(dir).filter(({ private_jwe }) => private_jwe !== undefined)
  const opened = await Promise.all(closed.map((key) => unwrapKey(key, passphrase)))
  for (const key of opened) writeKeyFile(dir, key)
  return opened.map(({ public_key }) => public_key.kid)
}

/** Whether any key of the folder, or one of this use, lies under a passphrase. */
export function hasWrappedKeys(dir: string, use?: PublicKey['use']): boolean {
  return readKeyFiles(dir).some(
    ({ public_key, private_jwe }) => private_jwe !== undefined && (use === undefined || public_key.use === use),
  )
}

/** Throws `KeyLockedError` unless the passphrase opens every key of the folder that lies under one. */
export async function requirePassphraseOpens(dir: string, passphrase: string | undefined): Promise<void> {
  const closed = readKeyFiles(dir).filter(({ private_jwe }) => private_jwe !== undefined)
  await Promise.all(closed.map((key) => unwrapKey(key, passphrase)))
}

function findKey(dir: string, kid: string): StoredKey {
  const key = readKeyFiles(dir).find((each) => each.public_key.kid === kid)
  if (!key) throw new Error(`there is no key ${kid} in ${dir}; list them: platform keys list`)
  return key
}

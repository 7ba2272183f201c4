// A key's life: generated, rotated out, revoked. Each step leaves files that a crash cannot make worse.
import { exportJWK, generateKeyPair } from 'jose'
import type { KeyAlgorithm, PublicKey } from '../../../daemon/kernel/keys.ts'
import { readKeyFiles, type StoredKey, writeKeyFile } from './key-files.ts'
import { publicJwkOf, thumbprint } from './public-jwk.ts'

export type NewKey = {
  readonly use: PublicKey['use']
  /** Ed25519 unless said. */
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  /** ISO 8601 instant after which it signs no more. */
  readonly not_after?: string
}

/** Makes an active key, `<use>-<first 16 characters of the thumbprint>`, and writes it to the folder. */
export async function generateKey(dir: string, given: NewKey): Promise<PublicKey> {
  const algorithm = given.algorithm ?? 'Ed25519'
  const pair = await generateKeyPair(algorithm, { extractable: true })
  const private_jwk = { ...(await exportJWK(pair.privateKey)) }
  const jwk = publicJwkOf(algorithm, private_jwk)
  if (!jwk) throw new Error(`the platform made no usable ${algorithm} key`)
  const fingerprint = thumbprint(jwk)
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
  writeKeyFile(dir, { public_key, private_jwk })
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
  given: Omit<NewKey, 'use'>,
): Promise<{ created: PublicKey; retired: PublicKey }> {
  const old = keyOf(dir, kid)
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
  const revoked: PublicKey = { ...keyOf(dir, kid).public_key, status: 'revoked' }
  writeKeyFile(dir, { public_key: revoked })
  return revoked
}

function keyOf(dir: string, kid: string): StoredKey {
  const key = readKeyFiles(dir).find((each) => each.public_key.kid === kid)
  if (!key) throw new Error(`there is no key ${kid} in ${dir}; list them: platform keys list`)
  return key
}

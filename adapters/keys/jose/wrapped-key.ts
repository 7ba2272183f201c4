// Private keys under a passphrase: a stolen disk or backup does not reveal a key without it.
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'
import { parsePublicJwk, readKeyMaterial } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { StoredKey } from './key-files.ts'

/** PBKDF2 with HMAC-SHA-512: nearly three times the rounds that OWASP recommends (210,000, 2023). Some tenths of a second a key. */
const pbkdf2_rounds = 600_000
/** A file with more rounds would keep a start busy for minutes. */
const max_pbkdf2_rounds = 4_000_000
const key_wrap_algorithm = 'PBES2-HS512+A256KW'
const content_algorithm = 'A256GCM'

export const min_passphrase_length = 12

/** Which key, and whether a passphrase was there at all; never the passphrase. */
export class KeyLockedError extends Error {
  readonly why: 'no_passphrase' | 'wrong_passphrase'

  constructor(kid: string, why: KeyLockedError['why']) {
    super(
      why === 'no_passphrase'
        ? `${kid} is under a passphrase, and none was given`
        : `the passphrase does not open ${kid}`,
    )
    this.name = 'Locked'
    this.why = why
  }
}

/** The key with its private half under the passphrase. */
export async function wrapKey(key: StoredKey, passphrase: string): Promise<StoredKey> {
  if (!key.private_jwk) return key
  const private_jwe = await encryptByPassphrase(Buffer.from(JSON.stringify(key.private_jwk)), passphrase)
  return { public_key: key.public_key, private_jwe }
}

/** The bytes as a compact JWE under the passphrase. */
export async function encryptByPassphrase(bytes: Uint8Array, passphrase: string): Promise<string> {
  return await new CompactEncrypt(bytes)
    .setProtectedHeader({ alg: key_wrap_algorithm, enc: content_algorithm })
    .setKeyManagementParameters({ p2c: pbkdf2_rounds })
    .encrypt(Buffer.from(passphrase))
}

/** The key with its private half decrypted and checked against its public half. Throws `KeyLockedError`. */
export async function unwrapKey(key: StoredKey, passphrase: string | undefined): Promise<StoredKey> {
  const { public_key, private_jwe } = key
  if (private_jwe === undefined) return key
  if (passphrase === undefined) throw new KeyLockedError(public_key.kid, 'no_passphrase')
  const private_jwk = await decryptPrivateJwk(private_jwe, passphrase)
  const own = private_jwk && parsePublicJwk(public_key.algorithm, private_jwk)
  if (!own || JSON.stringify(own) !== JSON.stringify(readKeyMaterial(public_key))) {
    throw new KeyLockedError(public_key.kid, 'wrong_passphrase')
  }
  return { public_key, private_jwk }
}

async function decryptPrivateJwk(jwe: string, passphrase: string): Promise<Record<string, unknown> | undefined> {
  const bytes = await decryptByPassphrase(jwe, passphrase)
  try {
    return bytes && JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

/** Undefined for any fault: the reason must not help to guess the passphrase. */
export async function decryptByPassphrase(jwe: string, passphrase: string): Promise<Uint8Array | undefined> {
  try {
    if (decodeProtectedHeader(jwe).alg !== key_wrap_algorithm) return undefined
    const { plaintext } = await compactDecrypt(jwe, Buffer.from(passphrase), {
      keyManagementAlgorithms: [key_wrap_algorithm],
      contentEncryptionAlgorithms: [content_algorithm],
      maxPBES2Count: max_pbkdf2_rounds,
    })
    return plaintext
  } catch {
    return undefined
  }
}

// Authenticated encryption: a ciphertext that cannot be read, changed or moved to another context without its key.
import { createCipheriv, createDecipheriv } from 'node:crypto'

const algorithm = 'aes-256-gcm'
export const encryption_key_bytes = 32
/** NIST SP 800-38D: a random nonce of 96 bits serves for 2^32 encryptions under one key. */
export const encryption_nonce_bytes = 12
const tag_bytes = 16

/**
 * Encrypts by AES-256-GCM (NIST SP 800-38D) and returns nonce, ciphertext and tag as one array. `nonce` must be random
 * and new for each encryption. `context` is authenticated and not contained: decryption requires the same one.
 */
export function encryptAuthenticated(
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  context: string,
): Uint8Array {
  if (nonce.length !== encryption_nonce_bytes) throw new TypeError(`a nonce has ${encryption_nonce_bytes} bytes`)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tag_bytes })
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** The plaintext; undefined for another key, another context, or a single changed bit. */
export function decryptAuthenticated(key: Uint8Array, ciphertext: Uint8Array, context: string): Uint8Array | undefined {
  if (ciphertext.length < encryption_nonce_bytes + tag_bytes) return undefined
  const decipher = createDecipheriv(algorithm, key, ciphertext.subarray(0, encryption_nonce_bytes), {
    authTagLength: tag_bytes,
  })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(ciphertext.subarray(ciphertext.length - tag_bytes))
  const body = ciphertext.subarray(encryption_nonce_bytes, ciphertext.length - tag_bytes)
  try {
    return Buffer.concat([decipher.update(body), decipher.final()])
  } catch {
    return undefined
  }
}

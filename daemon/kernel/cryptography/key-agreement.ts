// A key that two sites agree on by public messages, and nobody else knows who only reads those.
import { createPrivateKey, createPublicKey, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto'

/** PKCS #8 of an X25519 key (RFC 8410) up to the key itself. */
const pkcs8_prefix = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** The public key of 32 random bytes, base64url. */
export function deriveX25519PublicKey(secret: Uint8Array): string {
  return createPublicKey(importX25519PrivateKey(secret)).export({ format: 'jwk' }).x ?? ''
}

/**
 * 32 bytes: X25519 (RFC 7748) and HKDF-SHA-256 (RFC 5869) over what the key is for. Undefined for a public key that is none,
 * or of low order: everybody would know what comes of that.
 */
export function deriveAgreedKey(secret: Uint8Array, theirs: string, about: string): Uint8Array | undefined {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: theirs }, format: 'jwk' })
    const shared = diffieHellman({ privateKey: importX25519PrivateKey(secret), publicKey })
    return new Uint8Array(hkdfSync('sha256', shared, '', about, 32))
  } catch {
    return undefined
  }
}

function importX25519PrivateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8_prefix, secret]), format: 'der', type: 'pkcs8' })
}

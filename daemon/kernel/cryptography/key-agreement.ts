// Key agreement: two sites derive a shared key from public messages; readers of these messages cannot derive it.
import { createPrivateKey, createPublicKey, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto'

/** The PKCS #8 encoding of an X25519 key (RFC 8410) before the key itself. */
const pkcs8_prefix = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** The public key of 32 random bytes, base64url. */
export function deriveX25519PublicKey(secret: Uint8Array): string {
  return createPublicKey(importX25519PrivateKey(secret)).export({ format: 'jwk' }).x ?? ''
}

/**
 * Derives 32 bytes by X25519 (RFC 7748) and HKDF-SHA-256 (RFC 5869), with `purpose` as context. Undefined for an
 * invalid public key and for one of low order, since everybody could compute the result of the latter.
 */
export function deriveAgreedKey(secret: Uint8Array, peerKey: string, purpose: string): Uint8Array | undefined {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: peerKey }, format: 'jwk' })
    const shared = diffieHellman({ privateKey: importX25519PrivateKey(secret), publicKey })
    return new Uint8Array(hkdfSync('sha256', shared, '', purpose, 32))
  } catch {
    return undefined
  }
}

function importX25519PrivateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8_prefix, secret]), format: 'der', type: 'pkcs8' })
}

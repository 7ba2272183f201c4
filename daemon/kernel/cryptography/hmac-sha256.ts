// Keyed digests: without the key nobody can test guesses of the text.
import { createHmac } from 'node:crypto'

/** HMAC-SHA-256 (RFC 2104), 32 bytes. */
export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest()
}

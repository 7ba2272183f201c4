// A session of any policy has evidence that fits into one message.
import { expect, test } from 'vitest'
import { max_message_proof_bytes, maxSignatureProofBytes } from './proof-limits.ts'

/** JSON of a proof around a signature; lengths in base64url of RFC 8032, P-384 and FIPS 204. */
const signature_bytes = { Ed25519: 86, ES384: 128, 'ML-DSA-87': 6_170 }
const frame_bytes = 300

test('the messages of 64 peers leave each of 1,000 contributors room for an Ed25519 or ES384 signature', () => {
  const room = maxSignatureProofBytes(1_000, 64)
  expect(room).toBeGreaterThanOrEqual(frame_bytes + signature_bytes.ES384)
  expect(64 * max_message_proof_bytes + 1_000 * room).toBeLessThanOrEqual(3 * 1_048_576)
})

test('ML-DSA-87 signatures of contributors fit into sessions of 480 without peers, and of 80 with 64', () => {
  expect(maxSignatureProofBytes(480, 0)).toBeGreaterThanOrEqual(frame_bytes + signature_bytes['ML-DSA-87'])
  expect(maxSignatureProofBytes(80, 64)).toBeGreaterThanOrEqual(frame_bytes + signature_bytes['ML-DSA-87'])
})

test('a message of a peer has room for five ML-DSA-87 signatures', () => {
  expect(max_message_proof_bytes).toBeGreaterThanOrEqual(5 * (frame_bytes + signature_bytes['ML-DSA-87']) + 4_096)
})

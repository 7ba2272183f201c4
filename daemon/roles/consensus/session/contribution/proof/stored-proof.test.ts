// A proof is accepted only where the evidence of its session has room for as many from everybody.
import { expect, test } from 'vitest'
import { buildStoredSession } from '../../../../../../test/support/consensus/session-records.ts'
import { isProofWithinLimit } from './stored-proof.ts'

const session = (n: number, invited: string[] = []) => {
  const { policy } = buildStoredSession()
  return buildStoredSession({ policy: { ...policy, n }, invited })
}
const signatureProof = (length: number) => {
  return {
    type: 'signature' as const,
    created: '2026-03-02T12:00:00.000Z',
    protected: 'e30',
    signature: 'A'.repeat(length),
  }
}
const messageProof = (length: number) => {
  const signatures = [{ protected: 'e30', signature: 'AAAA' }]
  return { type: 'message' as const, envelope: { payload: 'e30', signatures }, body: 'x'.repeat(length) }
}

test('an ML-DSA-87 signature of a contributor fits beside few others, not beside a thousand', () => {
  expect(isProofWithinLimit(session(3), signatureProof(6_170))).toBe(true)
  expect(isProofWithinLimit(session(1_000), signatureProof(6_170))).toBe(false)
  expect(isProofWithinLimit(session(1_000), signatureProof(128))).toBe(true)
})

test('a message of a peer fits up to 40 KiB, in any session', () => {
  expect(isProofWithinLimit(session(1_000, ['bravo']), messageProof(40_000))).toBe(true)
  expect(isProofWithinLimit(session(1_000, ['bravo']), messageProof(41_000))).toBe(false)
})

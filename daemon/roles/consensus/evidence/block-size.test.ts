// The largest evidence that a session can have fits into the body of one message.
import { expect, test } from 'vitest'
import {
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  recorded_at,
} from '../../../../test/support/consensus/session-records.ts'
import { canonicalDigest, canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import type { Contribution } from '../session/contribution/model.ts'
import type { ContributionProof } from '../session/contribution/proof/model.ts'
import { max_message_proof_bytes, maxSignatureProofBytes } from '../session/contribution/proof/proof-limits.ts'
import { isProofWithinLimit } from '../session/contribution/proof/stored-proof.ts'
import type { EvidenceBlock } from './model.ts'
import { buildEvidence, signedBytes } from './rules.ts'

const ratified = buildStoredSession({
  state: 'RATIFIED',
  decision: 'match',
  result: { method: 'weighted_average', score: 0.9, conflict: 0, total_weight: 1_000 },
  history: [{ seq: 1, at: recorded_at, from: null, to: 'RATIFIED', trigger: 'contribution', by: 'ann' }],
})

test('a block with the proofs of 64 peers and 936 people fits into the body of one message', () => {
  const invited = Array.from({ length: 64 }, (_, at) => `peer-${at}`)
  const policy = { ...ratified.policy, m: 1_000, n: 1_000 }
  const session = { ...ratified, policy, invited, contributions: 2_000 }
  const stored = new Map<string, ContributionProof>()
  const contributors = Array.from({ length: 1_000 }, (_, at): Contribution => {
    const isPeer = at < invited.length
    const size = isPeer ? max_message_proof_bytes : maxSignatureProofBytes(1_000, 64)
    const proof = { id: canonicalDigest(at), content: fillProof(isPeer, size) }
    expect(isProofWithinLimit(session, proof.content)).toBe(true)
    stored.set(proof.id, proof.content)
    const each = { ...buildLocalContribution(`contributor-of-a-long-name-${at}`, 0.9, at + 1), proof: proof.id }
    return isPeer ? { ...buildPeerContribution(`peer-${at}`, 1, 1, 0.9), proof: proof.id } : each
  })
  const superseded = Array.from({ length: 1_000 }, (_, at) => ({ ordinal: at + 1_001, digest: canonicalDigest(at) }))
  const content = buildEvidence('alpha', session, contributors, { proofs: stored, superseded })
  const keys = Array.from({ length: 64 }, () => ({ ...mlDsaKey }))
  const block_id = canonicalDigest(content)
  const payload = Buffer.from(signedBytes(content, block_id)).toString('base64url')
  const signatures = Array.from({ length: 3 }, () => ({ protected: 'A'.repeat(128), signature: 'A'.repeat(6_170) }))
  const evidence = { block_id, content, signature: { payload, signatures }, keys }
  const body = { label: session.label, schema: 'consensus.result/1', data: { session_id: session.id, evidence } }
  expect(Buffer.byteLength(canonicalJson(body))).toBeLessThan(4 * 1_048_576)
})

/** Of the public key 2,592 bytes, in base64url (FIPS 204). */
const mlDsaKey: EvidenceBlock['keys'][number] = {
  kid: 'message-0123456789abcdef',
  algorithm: 'ML-DSA-87',
  fingerprint: 'A'.repeat(43),
  use: 'message',
  status: 'active',
  created: recorded_at,
  jwk: { kty: 'AKP', alg: 'ML-DSA-87', pub: 'A'.repeat(3_456) },
}

/** A proof of exactly this many bytes as canonical JSON. */
function fillProof(isPeer: boolean, bytes: number): ContributionProof {
  const make = (filler: string): ContributionProof =>
    isPeer
      ? {
          type: 'message',
          envelope: { payload: 'e30', signatures: [{ protected: 'p', signature: 's' }] },
          body: filler,
        }
      : { type: 'signature', created: recorded_at, protected: 'e30', signature: filler }
  return make('A'.repeat(bytes - canonicalJson(make('')).length))
}

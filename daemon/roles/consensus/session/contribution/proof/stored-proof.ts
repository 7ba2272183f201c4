// Stores and loads proofs of contributions, under the digest by which the contribution names its proof.
import { canonicalDigest, canonicalJson } from '../../../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../../kernel/store/store.ts'
import type { StoredSession } from '../../model.ts'
import type { Contribution } from '../model.ts'
import { type ContributionProof, contributionProofs } from './model.ts'
import { max_message_proof_bytes, maxSignatureProofBytes } from './proof-limits.ts'

/** Whether the evidence of the session has room for this proof. */
export function isProofWithinLimit({ policy, invited }: StoredSession, proof: ContributionProof): boolean {
  const limit = proof.type === 'message' ? max_message_proof_bytes : maxSignatureProofBytes(policy.n, invited.length)
  return Buffer.byteLength(canonicalJson(proof)) <= limit
}

/** The digest by which a contribution names its proof. */
export function digestProof(proof: ContributionProof): string {
  return canonicalDigest(proof)
}

/** Stores the proof durably and returns its digest. Idempotent: the digest is its id. */
export async function storeProof(
  call: Call,
  { id, value }: Doc<StoredSession>,
  proof: ContributionProof,
): Promise<string> {
  const digest = digestProof(proof)
  const { tenant_id, label } = value
  await call.store(contributionProofs).create(proofId(id, digest), { tenant_id, label, session_id: id, proof })
  return digest
}

/** The proofs of these contributions by digest. @throws Refusal `not_found` for a proof that is not stored. */
export async function loadProofs(
  call: Call,
  session_id: string,
  contributions: readonly Pick<Contribution, 'proof'>[],
): Promise<ReadonlyMap<string, ContributionProof>> {
  const proofs = new Map<string, ContributionProof>()
  for (const { proof: digest } of contributions) {
    if (digest === undefined) continue
    proofs.set(digest, (await call.store(contributionProofs).get(proofId(session_id, digest))).value.proof)
  }
  return proofs
}

function proofId(session_id: string, digest: string): string {
  return `${session_id}:${digest}`
}

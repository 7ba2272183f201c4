// Builds the content of an evidence block from a ratified session and its standing contributions.
import { canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { compareCanonicallyThenById } from '../combine/opinion.ts'
import type { ContributionIndex } from '../session/contribution/contribution-index.ts'
import type { Contribution } from '../session/contribution/model.ts'
import type { StoredSession } from '../session/model.ts'
import type { EvidenceBlock, EvidenceContent } from './model.ts'

/**
 * The content of an evidence block: equal session states give equal bytes, for any order of arrival. @throws Error
 * unless the session is RATIFIED.
 */
export function buildEvidence(site: string, session: StoredSession, index: ContributionIndex): EvidenceContent {
  const { result, decision } = session
  const ratified = session.history.findLast((step) => step.to === 'RATIFIED')
  if (!result || !decision || !ratified) throw new Error(`session ${session.id} is not ratified`)
  const contributions = [...index.by_contributor.values()].sort(compareCanonicallyThenById)
  const parents = contributions.flatMap(({ federation }) => federation?.parent_block_ids ?? [])
  return {
    v: 1,
    type: 'platform.evidence',
    site,
    tenant_id: session.tenant_id,
    session_id: session.id,
    lens_id: session.lens_id,
    lens_version: session.lens_version,
    ...(session.subject ? { subject: session.subject } : {}),
    policy: session.policy,
    label: session.label,
    contributions: contributions.map(summariseContribution),
    record: { contributions: session.contributions, chain: session.chain },
    result,
    decision,
    ...(session.attestation ? { attestation: session.attestation } : {}),
    parent_block_ids: [...new Set(parents)].sort(),
    decided_at: ratified.at,
  }
}

/** SHA-256 of the canonical content: the block's id. */
export function blockIdOf(content: EvidenceContent): string {
  return sha256(canonicalJson(content))
}

/** The bytes that the site signs: the block's id, since a block may be larger than a signature's payload. */
export function signedBytes(site: string, block_id: string): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ v: 1, type: 'platform.evidence', site, block_id }))
}

/** Whether a block's parts agree with each other; whether its signer is trusted is another question. */
export function isConsistent({ block_id, content, signature }: EvidenceBlock): boolean {
  const signed = Buffer.from(signedBytes(content.site, block_id)).toString('base64url')
  return block_id === blockIdOf(content) && signature.payload === signed
}

function summariseContribution({
  contributor_id,
  pair_score,
  accuracy,
  credibility,
  signer_key_id,
  classification,
  digest,
  federation,
}: Contribution) {
  return {
    contributor_id,
    pair_score,
    accuracy,
    credibility,
    signer_key_id,
    classification,
    digest,
    ...(federation ? { msg_id: federation.msg_id } : {}),
  }
}

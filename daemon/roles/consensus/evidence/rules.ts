// Builds the content of an evidence block from a ratified session and its standing contributions.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { digestCanonically } from '../../../kernel/encoding/digest-canonically.ts'
import type { CombinationMethod } from '../../../shared/quorum-policy/quorum-policy.ts'
import { compareCanonicallyThenById } from '../combine/opinion.ts'
import type { ContributionIndex } from '../session/contribution/contribution-index.ts'
import type { Contribution } from '../session/contribution/model.ts'
import type { ContributionProof } from '../session/contribution/proof/model.ts'
import type { StoredSession } from '../session/model.ts'
import { mergeParents } from './lineage/rules.ts'
import type {
  EvidenceBlock,
  EvidenceContent,
  EvidenceContent1,
  EvidenceContent2,
  LineageEntry,
  ProvenEvidence,
} from './model.ts'

/** What a block of version 2 or 3 quotes besides the session and its standing contributions. */
export type EvidenceProofs = {
  /** By the digest that the contribution names. */
  readonly proofs: ReadonlyMap<string, ContributionProof>
  /** Undefined when there are too many to list. */
  readonly superseded: EvidenceContent2['record']['superseded']
  /** From `buildLineage`. */
  readonly lineage?: readonly LineageEntry[]
}

/**
 * The standing contributions in the order of the block. `contributors`: of the session, which an earlier version decided where
 * they are fewer: it had one vote for each name, the latest.
 */
export function listStanding(
  { by_voter }: Pick<ContributionIndex, 'by_voter'>,
  { contributors }: Pick<StoredSession, 'contributors'>,
): Contribution[] {
  const standing = [...by_voter.values()].sort((a, b) => a.ordinal - b.ordinal)
  const counted =
    standing.length > contributors
      ? [...new Map(standing.map((contribution) => [contribution.contributor_id, contribution])).values()]
      : standing
  return counted.sort((a, b) => compareCanonicallyThenById(a, b) || Number(!!a.federation) - Number(!!b.federation))
}

/**
 * The content of a block of version 2, or of version 3 where the session has a lineage: equal session states give equal bytes, for
 * any order of arrival. @throws Error unless the session is RATIFIED.
 */
export function buildEvidence(
  site: string,
  session: StoredSession,
  standing: readonly Contribution[],
  { proofs, superseded, lineage = [] }: EvidenceProofs,
): ProvenEvidence {
  const { contributions, chain, policy } = session
  const fields = {
    ...buildContentFields(site, session, standing, lineage),
    algorithm: algorithmOf(policy.combination_method),
    contributions: standing.map((contribution) => {
      const proof = proofs.get(contribution.proof ?? '')
      return { ...quoteContribution(contribution), ordinal: contribution.ordinal, ...(proof ? { proof } : {}) }
    }),
    record: { contributions, chain, ...(superseded ? { superseded } : {}) },
  }
  return lineage.length === 0 ? { v: 2, ...fields } : { v: 3, ...fields, lineage: [...lineage] }
}

/** The same without proofs, for a peer that reads version 1 only, and where messages of peers were not kept. */
export function buildEvidence1(
  site: string,
  session: StoredSession,
  standing: readonly Contribution[],
  lineage: readonly LineageEntry[] = [],
): EvidenceContent1 {
  const { contributions, chain } = session
  return {
    v: 1,
    ...buildContentFields(site, session, standing, lineage),
    contributions: standing.map(quoteContribution),
    record: { contributions, chain },
  }
}

/** The order and operations in which this release combines. */
export function algorithmOf(method: CombinationMethod): EvidenceContent2['algorithm'] {
  return `${method}/1`
}

function buildContentFields(
  site: string,
  session: StoredSession,
  standing: readonly Contribution[],
  lineage: readonly LineageEntry[],
) {
  const { result, decision } = session
  const ratified = session.history.findLast((step) => step.to === 'RATIFIED')
  if (!result || !decision || !ratified) throw new Error(`session ${session.id} is not ratified`)
  const parents = standing.flatMap(({ federation }) => federation?.parent_block_ids ?? [])
  return {
    type: 'platform.evidence' as const,
    site,
    tenant_id: session.tenant_id,
    session_id: session.id,
    lens_id: session.lens_id,
    lens_version: session.lens_version,
    ...(session.subject ? { subject: session.subject } : {}),
    policy: session.policy,
    label: session.label,
    result,
    decision,
    ...(session.attestation ? { attestation: session.attestation } : {}),
    parent_block_ids: mergeParents(lineage, parents),
    decided_at: ratified.at,
  }
}

/** SHA-256 of the canonical content: the block's id. */
/** The bytes that the site signs: the block's id, since a block may be larger than a signature's payload. */
export function signedBytes({ v, site }: Pick<EvidenceContent, 'v' | 'site'>, block_id: string): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ v, type: 'platform.evidence', site, block_id }))
}

/**
 * Whether a block's parts agree with each other; whether its signer is trusted is another question. A computation for
 * `runInSlices`.
 */
export function* isConsistent({ block_id, content, signature }: EvidenceBlock): Generator<undefined, boolean> {
  const signed = Buffer.from(signedBytes(content, block_id)).toString('base64url')
  return signature.payload === signed && block_id === (yield* digestCanonically(content))
}

function quoteContribution({
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

// Verifies an evidence block from its file alone: its integrity, its result, and its signers.

import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { combine } from '../../roles/consensus/combine/combine.ts'
import { decide } from '../../roles/consensus/combine/decide.ts'
import { type EvidenceBlock, type EvidenceContent, evidenceBlock } from '../../roles/consensus/evidence/model.ts'
import { isConsistent } from '../../roles/consensus/evidence/rules.ts'
import { contributionDigest } from '../../roles/consensus/session/contribution/recent-contribution.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

export type EvidenceVerdict = {
  readonly block_id: string
  readonly valid: boolean
  /** Faults; empty if valid. */
  readonly faults: readonly string[]
  /** Keys with a valid signature. */
  readonly signed_by: readonly { readonly kid: string; readonly fingerprint: string }[]
  /** `given` keys are trusted by the caller; the block's `own` keys prove only its integrity, and name the signer. */
  readonly keys: 'given' | 'own'
  readonly site: string
  readonly session_id: string
  readonly decision: string
  readonly score: number | null
  readonly decided_at: string
}

/** `trusted` keys; undefined: those in the block. Throws `OfflineCommandError` (5) for a file that is not a block. */
export async function verifyEvidence(
  text: string,
  contribution: readonly PublicKey[] | undefined,
): Promise<EvidenceVerdict> {
  const block = parseEvidenceBlock(text)
  const { content, block_id } = block
  const faults = [
    ...(isConsistent(block) ? [] : ['the content does not match its id or its signature']),
    ...findContributorFaults(content),
    ...findDigestFaults(content),
    ...findResultFaults(content),
  ]
  const verdict = await verifyJws('evidence', block.signature, contribution ?? block.keys)
  const signed_by =
    typeof verdict === 'string' ? [] : verdict.keys.map(({ kid, fingerprint }) => ({ kid, fingerprint }))
  if (typeof verdict === 'string') faults.push(signatureFaults[verdict])
  return {
    block_id,
    valid: faults.length === 0,
    faults,
    signed_by,
    keys: contribution ? 'given' : 'own',
    site: content.site,
    session_id: content.session_id,
    decision: content.decision,
    score: content.result.score,
    decided_at: content.decided_at,
  }
}

const signatureFaults = {
  bad_signature: 'the signature is not valid',
  unknown_key: 'no trusted key has signed it',
  key_revoked: 'the key that signed it is revoked',
}

function parseEvidenceBlock(text: string): EvidenceBlock {
  const content = parseJson(text)
  if (content === undefined) throw new OfflineCommandError(5, 'the file is not JSON')
  const block = parseWithSchema(evidenceBlock, content)
  if (!block.success)
    throw new OfflineCommandError(5, `the file is not an evidence block: ${formatFieldErrors(block.errors)}`)
  return block.data
}

/**
 * Requires one current contribution for each contributor, at most as many as the policy allows, and only of those that
 * it names.
 */
function findContributorFaults({ policy, contributions, record }: EvidenceContent): string[] {
  const names = new Set(contributions.map(({ contributor_id }) => contributor_id))
  const isUnique = names.size === contributions.length
  const isWithinLimit = names.size <= policy.n && contributions.length <= record.contributions
  const areAllowed = !policy.contributors || [...names].every((name) => policy.contributors?.includes(name))
  return isUnique && isWithinLimit && areAllowed ? [] : ['the contributors are not those of the policy, once each']
}

/** Each digest must match its contribution, so that its author can compare a stored contribution with the block. */
function findDigestFaults({ contributions }: EvidenceContent): string[] {
  const isDigest = contributions.every((contribution) => contributionDigest(contribution) === contribution.digest)
  return isDigest ? [] : ['a digest does not match its contribution']
}

/** The decision must follow from the contributions by the policy, or from a person: a signer may be wrong or dishonest. */
function findResultFaults({ policy, contributions, result, decision, attestation }: EvidenceContent): string[] {
  const combined = combine(policy.combination_method, contributions)
  if (canonicalJson(combined) !== canonicalJson(result)) return ['the result does not follow from the contributions']
  if (attestation) return attestation.decision === decision ? [] : ['the decision differs from the attested one']
  const expected = decide(policy, contributions)
  const follows = expected.state === 'RATIFIED' && expected.decision === decision
  return follows ? [] : ['the decision does not follow from the result by the policy']
}

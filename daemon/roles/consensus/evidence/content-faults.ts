// Finds what in an evidence block does not follow from the block itself: the same checks for a receiver and for a reader.
import { canonicalDigest, canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { combine } from '../combine/combine.ts'
import { decide } from '../combine/decide.ts'
import { compareCanonicallyThenById } from '../combine/opinion.ts'
import { contributionDigest } from '../session/contribution/recent-contribution.ts'
import type { EvidenceBlock, EvidenceContent, EvidenceContent2 } from './model.ts'
import { findQuotedMessageFault, readQuotedMessage } from './quoted-message.ts'
import { algorithmOf, isConsistent } from './rules.ts'

/** Faults in words, for people; empty for a block that follows from its contributions. Signatures are another question. */
export function findEvidenceFaults(block: EvidenceBlock): string[] {
  const { content } = block
  const faults = [
    ...(isConsistent(block) ? [] : ['the content does not match its id or its signature']),
    ...findContributorFaults(content),
    ...findOrderFaults(content),
    ...findDigestFaults(content),
    ...findResultFaults(content),
  ]
  return content.v === 1 ? faults : [...faults, ...findProofFaults(content), ...findRecordFaults(content)]
}

/** Whether the chain could be computed from the block: one of version 1 does not hold the order of arrival. */
export function isChainComplete(content: EvidenceContent): boolean {
  return content.v === 2 && listRecord(content).length === content.record.contributions
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

function findOrderFaults({ contributions }: EvidenceContent): string[] {
  const inOrder = contributions.every((contribution, at) => {
    const before = contributions[at - 1]
    return before === undefined || compareCanonicallyThenById(before, contribution) <= 0
  })
  return inOrder ? [] : ['the contributions are not in canonical order']
}

/** Each digest must match its contribution, so that its author can compare a stored contribution with the block. */
function findDigestFaults({ contributions }: EvidenceContent): string[] {
  const isDigest = contributions.every((contribution) => contributionDigest(contribution) === contribution.digest)
  return isDigest ? [] : ['a digest does not match its contribution']
}

/** The decision must follow from the contributions by the policy, or from a person: a signer may be wrong or dishonest. */
function findResultFaults(content: EvidenceContent): string[] {
  const { policy, contributions, result, decision, attestation, decided_at } = content
  if (content.v === 2 && content.algorithm !== algorithmOf(policy.combination_method))
    return [`the algorithm ${content.algorithm} is not that of the policy`]
  const combined = combine(policy.combination_method, contributions)
  if (canonicalJson(combined) !== canonicalJson(result)) return ['the result does not follow from the contributions']
  if (attestation) {
    if (attestation.decision !== decision) return ['the decision differs from the attested one']
    return attestation.at === decided_at ? [] : ['the decision was not made at the time of the attestation']
  }
  const expected = decide(policy, contributions)
  const follows = expected.state === 'RATIFIED' && expected.decision === decision
  return follows ? [] : ['the decision does not follow from the result by the policy']
}

/** Each proof must be of the contribution that it stands beside, and the parents those that the messages name. */
function findProofFaults(content: EvidenceContent2): string[] {
  const faults = content.contributions.flatMap((contribution) => findQuotedMessageFault(content, contribution) ?? [])
  const parents = content.contributions.flatMap(
    (contribution) => readQuotedMessage(contribution)?.statement.parent_block_ids ?? [],
  )
  const isLineage = canonicalJson([...new Set(parents)].sort()) === canonicalJson(content.parent_block_ids)
  return isLineage ? faults : [...faults, 'the parent blocks are not those that the messages name']
}

/** The chain over the digests in the order of the record, as far as the block lists them. */
function findRecordFaults(content: EvidenceContent2): string[] {
  const listed = listRecord(content)
  const isNumbered = listed.every(({ ordinal }, at) => ordinal > (listed[at - 1]?.ordinal ?? 0))
  if (!isNumbered || (listed.at(-1)?.ordinal ?? 0) > content.record.contributions)
    return ['the record numbers a contribution twice, or beyond its end']
  if (!isChainComplete(content)) return content.record.superseded ? ['the record does not list all contributions'] : []
  const chain = listed.reduce((before, { digest }) => sha256(before + digest), canonicalDigest(content.session_id))
  return chain === content.record.chain ? [] : ['the chain does not follow from the digests of the record']
}

function listRecord({ contributions, record }: EvidenceContent2) {
  const listed = [...contributions.map(({ ordinal, digest }) => ({ ordinal, digest })), ...(record.superseded ?? [])]
  return listed.sort((a, b) => a.ordinal - b.ordinal)
}

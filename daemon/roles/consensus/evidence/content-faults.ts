// Finds what in an evidence block does not follow from the block itself: the same checks for a receiver and for a reader.
import { canonicalDigest, canonicalJson, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { type DecideSorted, decideSorted } from '../combine/decide.ts'
import { isContributorList } from '../combine/is-contributor-list.ts'
import { compareCanonicallyThenById, sortCanonically } from '../combine/opinion.ts'
import { voterKey } from '../session/contribution/contribution-index.ts'
import { contributionDigest } from '../session/contribution/recent-contribution.ts'
import { findLineageFaults, mergeParents } from './lineage/rules.ts'
import type { EvidenceBlock, EvidenceContent, ProvenEvidence } from './model.ts'
import { findQuotedMessageFault, readQuotedMessage } from './quoted-message.ts'
import { algorithmOf, isConsistent } from './rules.ts'

/** What a check finds, as a computation for `runInSlices`: a block may take up the whole body of a message. */
type FaultSearch = Generator<undefined, string[]>

/**
 * Faults in words, for people; empty for a block that follows from its contributions. Signatures are another question. Of a
 * block with more contributions than its policy allows nothing else is read. `decide` lets a receiver time the combiner.
 */
export function* findEvidenceFaults(block: EvidenceBlock, decide: DecideSorted = decideSorted): FaultSearch {
  const { content } = block
  const others = findContributorFaults(content)
  if (others.length > 0) return others
  const faults = [
    ...((yield* isConsistent(block)) ? [] : ['the content does not match its id or its signature']),
    ...findOrderFaults(content),
    ...(yield* findDigestFaults(content)),
    ...findResultFaults(content, decide),
  ]
  if (content.v === 1) return faults
  return [
    ...faults,
    ...findLineageFaults(content),
    ...(yield* findProofFaults(content)),
    ...(yield* findRecordFaults(content)),
  ]
}

/** Whether the chain could be computed from the block: one of version 1 does not hold the order of arrival. */
export function isChainComplete({ v, contributions, record }: EvidenceContent): boolean {
  const superseded = 'superseded' in record ? (record.superseded?.length ?? 0) : 0
  return v !== 1 && contributions.length + superseded === record.contributions
}

/**
 * Requires one current contribution for each contributor, at most as many as the policy allows, and only of those that
 * it names. A message is the vote of a peer, whose tenant may have the name of a contributor of the origin.
 */
function findContributorFaults({ policy, contributions, record }: EvidenceContent): string[] {
  const names = contributions.map(({ contributor_id }) => contributor_id)
  const voters = contributions.map(({ contributor_id, msg_id }) =>
    voterKey(contributor_id, msg_id === undefined ? undefined : 'peer'),
  )
  return names.length <= record.contributions && isContributorList(policy, names, voters)
    ? []
    : ['the contributors are not those of the policy, once each']
}

function findOrderFaults({ contributions }: EvidenceContent): string[] {
  const inOrder = contributions.every((contribution, at) => {
    const before = contributions[at - 1]
    return before === undefined || compareCanonicallyThenById(before, contribution) <= 0
  })
  return inOrder ? [] : ['the contributions are not in canonical order']
}

/** Each digest must match its contribution, so that its author can compare a stored contribution with the block. */
function* findDigestFaults({ contributions }: EvidenceContent): FaultSearch {
  for (const contribution of contributions) {
    if (contributionDigest(contribution) !== contribution.digest) return ['a digest does not match its contribution']
    yield
  }
  return []
}

/** The decision must follow from the contributions by the policy, or from a person: a signer may be wrong or dishonest. */
function findResultFaults(content: EvidenceContent, decide: DecideSorted): string[] {
  const { policy, contributions, result, decision, attestation, decided_at } = content
  if (content.v !== 1 && content.algorithm !== algorithmOf(policy.combination_method))
    return [`the algorithm ${content.algorithm} is not that of the policy`]
  const expected = decide(policy, sortCanonically(contributions))
  if (canonicalJson(expected.combination) !== canonicalJson(result))
    return ['the result does not follow from the contributions']
  if (attestation) {
    if (attestation.decision !== decision) return ['the decision differs from the attested one']
    return attestation.at === decided_at ? [] : ['the decision was not made at the time of the attestation']
  }
  const follows = expected.state === 'RATIFIED' && expected.decision === decision
  return follows ? [] : ['the decision does not follow from the result by the policy']
}

/** Each proof must be of the contribution that it stands beside, and the parents those that lineage and messages name. */
function* findProofFaults(content: ProvenEvidence): FaultSearch {
  const faults: string[] = []
  const parents: string[] = []
  for (const contribution of content.contributions) {
    const message = readQuotedMessage(contribution)
    const fault = findQuotedMessageFault(content, contribution, message)
    if (fault !== undefined) faults.push(fault)
    parents.push(...(message?.statement.parent_block_ids ?? []))
    yield
  }
  const merged = mergeParents('lineage' in content ? content.lineage : [], parents)
  return canonicalJson(merged) === canonicalJson(content.parent_block_ids)
    ? faults
    : [...faults, 'the parent blocks are not those that the lineage and the messages name']
}

/** The chain over the digests in the order of the record, as far as the block lists them. */
function* findRecordFaults(content: ProvenEvidence): FaultSearch {
  const listed = listRecord(content)
  const isNumbered = listed.every(({ ordinal }, at) => ordinal > (listed[at - 1]?.ordinal ?? 0))
  if (!isNumbered || (listed.at(-1)?.ordinal ?? 0) > content.record.contributions)
    return ['the record numbers a contribution twice, or beyond its end']
  if (!isChainComplete(content)) return content.record.superseded ? ['the record does not list all contributions'] : []
  let chain = canonicalDigest(content.session_id)
  for (const { digest } of listed) {
    chain = sha256(chain + digest)
    yield
  }
  return chain === content.record.chain ? [] : ['the chain does not follow from the digests of the record']
}

function listRecord({ contributions, record }: ProvenEvidence) {
  const listed = [...contributions.map(({ ordinal, digest }) => ({ ordinal, digest })), ...(record.superseded ?? [])]
  return listed.sort((a, b) => a.ordinal - b.ordinal)
}

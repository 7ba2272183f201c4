// Finds what in a received dissent does not follow from the positions that it states.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import type { QuorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { type DecideSorted, decideSorted } from './decide.ts'
import {
  type ConflictAnalysis,
  type ConflictDescription,
  type DissentBody,
  type DissentCause,
  describeConflict,
  opinionOf,
} from './dissent.ts'
import { isContributorList } from './is-contributor-list.ts'
import type { Opinion } from './opinion.ts'

/** Analyses a description; where, is the caller's choice: a peer must not occupy this site. */
type Analyse = (policy: QuorumPolicy, described: ConflictDescription) => Promise<ConflictAnalysis>

/** Faults in words, for people; empty for a body that follows from its positions by the policy. */
export async function findDissentFaults(
  policy: QuorumPolicy,
  body: DissentBody,
  analyse: Analyse,
  decide: DecideSorted = decideSorted,
): Promise<string[]> {
  const { positions } = body
  const names = positions.map(({ contributor_id }) => contributor_id)
  if (!isContributorList(policy, names))
    return ['the positions are not those of the contributors of the policy, once each']
  if (positions.some(({ pair_score }, at) => pair_score < (positions[at - 1]?.pair_score ?? 0)))
    return ['the positions are not in canonical order']
  const opinions = positions.map(opinionOf)
  const cause = findCause(policy, opinions, decide)
  if (!cause || cause.reason !== body.reason) return ['the positions do not lead to this conflict by the policy']
  const described = describeConflict(policy, opinions, cause)
  const parts: DissentBody = { ...described, ...(await analyse(policy, described)) }
  return Object.entries(parts).flatMap(([name, part]) =>
    canonicalJson(part) === canonicalJson(body[name as keyof DissentBody])
      ? []
      : [`${name} does not follow from the positions`],
  )
}

/** The cause of a conflict over these opinions: an undecided session is inconclusive once its deadline has passed. */
function findCause(policy: QuorumPolicy, opinions: readonly Opinion[], decide: DecideSorted): DissentCause | undefined {
  const decision = decide(policy, opinions)
  if (decision.state === 'IN_CONFLICT') return decision
  if (decision.state === 'RATIFIED' || policy.deadline === undefined) return undefined
  return { reason: 'inconclusive', combination: decision.combination }
}

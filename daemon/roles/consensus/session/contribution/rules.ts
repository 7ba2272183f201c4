// Decides whether a session accepts a contribution, and what the session becomes with it.
import { canonicalJson, sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { isWithinCeiling, joinLabels, type LabelPolicy } from '../../../../kernel/label/label.ts'
import type { DecideSorted } from '../../combine/decide.ts'
import type { Opinion } from '../../combine/opinion.ts'
import type { SessionOutboxEntry, SessionState, StoredSession } from '../model.ts'
import { decideSession } from '../rules.ts'
import { addToOutbox, enterState } from '../transition/rules.ts'
import { type ContributionView, supersedes, voterKey, voterOf, withOpinion } from './contribution-index.ts'
import { type Contribution, page_size } from './model.ts'
import { appendRecent, type SubmittedContribution } from './recent-contribution.ts'

const openStates: ReadonlySet<SessionState> = new Set(['PROPOSED', 'PENDING_QUORUM', 'IN_CONFLICT'])

export type AcceptedContribution = {
  readonly next: StoredSession
  readonly contribution: Contribution
  /** The standing opinions, this one included, in canonical order. */
  readonly sorted: readonly Opinion[]
}

/**
 * Detects a repeat, which changes nothing: `known` when the id was accepted before with the same content, `unchanged`
 * when the contributor's standing contribution has this content. `claimed`: the digest that the id was claimed for
 * outside the session's record. Refuses `idempotency_mismatch` when the id belongs to other content.
 */
export function detectRepeat(
  view: ContributionView,
  contribution: SubmittedContribution,
  digest: string,
  claimed: string | undefined,
): 'known' | 'unchanged' | undefined | Refusal {
  const recorded = view.digests.get(contribution.id) ?? claimed
  const before = view.by_voter.get(voterOf(contribution))
  const isSame = recorded === digest && (before?.id !== contribution.id || hasSameParents(before, contribution))
  if (isSame) return 'known'
  if (recorded !== undefined)
    return refuse('idempotency_mismatch', 'this id was already used for another contribution; use a new id')
  if (before?.digest !== digest || !hasSameParents(before, contribution)) return undefined
  // A contributor who signs what stands unsigned adds a proof: it must not be acknowledged without being kept.
  if (contribution.proof !== undefined && before.proof === undefined) return undefined
  // A later message with equal content must enter the record: otherwise a message sent between the two, arriving last,
  // would supersede it.
  return contribution.federation && before.federation && supersedes(contribution, before) ? undefined : 'unchanged'
}

/** The digest does not cover the parents: they are part of the message to a peer, and must reach it. */
function hasSameParents(...[one, other]: [Parents, Parents]): boolean {
  return canonicalJson(one.parent_block_ids ?? []) === canonicalJson(other.parent_block_ids ?? [])
}
type Parents = Pick<SubmittedContribution, 'parent_block_ids'>

export type AcceptanceOptions = {
  readonly max_contributions: number
  readonly labels: LabelPolicy
  readonly decide?: DecideSorted
}

/**
 * Adds a contribution to the session and decides on the standing contributions. `view` must describe exactly this
 * state of the session. Refuses `session_closed`, `not_contributor`, `quorum_full`, `label_denied`.
 */
export function acceptContribution(
  current: StoredSession,
  view: ContributionView,
  submitted: SubmittedContribution,
  digest: string,
  { max_contributions, labels, decide }: AcceptanceOptions,
): AcceptedContribution | Refusal {
  const refusal = checkContribution(current, view, submitted, max_contributions)
  if (refusal) return refusal
  const label = isWithinCeiling(current.label, submitted.classification, labels)
    ? joinLabels(current.label, submitted.classification, labels)
    : undefined
  if (!label) return refuse('label_denied', 'the contribution’s label exceeds the session’s')
  if (label.releasable_to?.length === 0)
    return refuse('label_denied', 'with the contribution’s label nobody could see the session')
  const contribution: Contribution = { ...submitted, digest, ordinal: current.contributions + 1 }
  const trimmed = current.recent.length >= page_size && view.pages_stored > current.pages
  const added: StoredSession = {
    ...current,
    label,
    updated_at: submitted.at,
    contributions: contribution.ordinal,
    contributors: view.by_voter.size + (view.by_voter.has(voterOf(submitted)) ? 0 : 1),
    pages: trimmed ? current.pages + 1 : current.pages,
    recent: appendRecent(current.recent, submitted, trimmed ? page_size : 0),
    chain: sha256(current.chain + digest),
  }
  const sorted = withOpinion(view, contribution)
  const next = current.origin
    ? forwardToOrigin(added, view, contribution)
    : decideSession(added, sorted, 'contribution', submitted.submitted_by, submitted.at, decide).next
  return { next, contribution, sorted }
}

function checkContribution(
  current: StoredSession,
  view: ContributionView,
  submitted: Pick<SubmittedContribution, 'contributor_id' | 'federation'>,
  max: number,
): Refusal | undefined {
  if (!openStates.has(current.state)) return refuse('session_closed', `the session is ${current.state}`)
  const { contributors, n } = current.policy
  const { contributor_id, federation } = submitted
  if (contributors && !current.origin && !contributors.includes(contributor_id)) {
    return refuse(
      'not_contributor',
      'the policy of the session names its contributors, and this contributor is not among them',
    )
  }
  if (!federation && !current.origin && current.peer_tenants?.includes(contributor_id)) {
    return refuse(
      'not_contributor',
      `${contributor_id} is the tenant of an invited peer, which contributes under this name; enrol the contributor under another`,
    )
  }
  // The policy names each contributor once: the first to vote under the name has its place.
  if (contributors && view.by_voter.has(voterKey(contributor_id, federation ? undefined : 'peer'))) {
    return refuse(
      'not_contributor',
      `the policy names ${contributor_id} once, and another of this name has contributed`,
    )
  }
  if (current.contributions >= max) return refuse('quorum_full', `the session has its maximum of ${max} contributions`)
  if (!view.by_voter.has(voterOf(submitted)) && view.by_voter.size >= n) {
    return refuse('quorum_full', `the session already has all of its ${n} contributors`)
  }
  return undefined
}

/** Sends the contribution to the peer that hosts the session; only a result from there decides. */
function forwardToOrigin(added: StoredSession, view: ContributionView, contribution: Contribution): StoredSession {
  const { origin } = added
  if (!origin || !supersedes(contribution, view.by_voter.get(voterOf(contribution)))) return added
  const { pair_score, accuracy, credibility, classification, parent_block_ids } = contribution
  const message: SessionOutboxEntry = {
    type: 'message',
    id: `contribution:${contribution.id}`,
    peer: origin.peer,
    kind: 'contribution',
    body: { session_id: added.id, pair_score, accuracy, credibility, classification },
    ...(parent_block_ids ? { parent_block_ids } : {}),
  }
  const forwarded =
    added.state === 'PROPOSED'
      ? enterState(added, 'PENDING_QUORUM', 'contribution', contribution.submitted_by, contribution.at)
      : added
  return addToOutbox(forwarded, [message])
}

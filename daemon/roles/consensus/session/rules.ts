// The session's state machine: pure decisions from what is stored and what is given to what is stored next.
import { canonicalDigest, sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isWithinCeiling, joinLabels, type LabelPolicy } from '../../../kernel/label/label.ts'
import { decideSorted, type QuorumDecision } from '../combine/decide.ts'
import { buildDissent } from '../combine/dissent.ts'
import type { Opinion } from '../combine/opinion.ts'
import { type ContributionIndex, supersedes, withOpinion } from './contribution/contribution-index.ts'
import type { Contribution } from './contribution/model.ts'
import { page_size } from './contribution/model.ts'
import { appendRecent, type SubmittedContribution } from './contribution/recent-contribution.ts'
import type { DissentRecord } from './dissent/model.ts'
import type { SessionOutboxEntry, SessionState, StoredSession, Transition } from './model.ts'
import { addToOutbox, closeDissent, emissionEntry, enterState } from './transition/rules.ts'

const openStates: ReadonlySet<SessionState> = new Set(['PROPOSED', 'PENDING_QUORUM', 'IN_CONFLICT'])

export type AcceptedContribution = {
  readonly next: StoredSession
  readonly contribution: Contribution
  /** The standing opinions with this one among them. */
  readonly sorted: readonly Opinion[]
}
type ConflictDecision = Extract<QuorumDecision, { state: 'IN_CONFLICT' }>

/**
 * Whether its id was seen before with the same content (`known`), or its contributor says the same already (`stands`);
 * such a repeat changes nothing. `claimed`: the digest that the id stands for outside the session's record.
 */
export function detectRepeat(
  standing: ContributionIndex,
  given: SubmittedContribution,
  digest: string,
  claimed: string | undefined,
): 'known' | 'unchanged' | undefined | Refusal {
  const known = standing.digests.get(given.id) ?? claimed
  if (known === digest) return 'known'
  if (known !== undefined) return refuse('idempotency_mismatch', 'this id was used for another contribution')
  const before = standing.by_contributor.get(given.contributor_id)
  if (before?.digest !== digest) return undefined
  // A later message that says the same must be known, or one sent between the two and arriving last would supersede it.
  return given.federation && before.federation && supersedes(given, before) ? undefined : 'unchanged'
}

/**
 * Takes one more contribution into the session and decides what it becomes. `standing` must be of this very session
 * state (same chain). Refuses `session_closed`, `not_contributor`, `quorum_full`, `label_denied`.
 */
export function acceptContribution(
  current: StoredSession,
  standing: ContributionIndex,
  given: SubmittedContribution,
  digest: string,
  limits: { readonly max_contributions: number; readonly labels: LabelPolicy },
): AcceptedContribution | Refusal {
  const refused = checkContribution(current, standing, given.contributor_id, limits.max_contributions)
  if (refused) return refused
  const label = isWithinCeiling(current.label, given.classification, limits.labels)
    ? joinLabels(current.label, given.classification, limits.labels)
    : undefined
  if (!label) return refuse('label_denied', 'the contribution’s label exceeds the session’s')
  if (label.releasable_to?.length === 0)
    return refuse('label_denied', 'the contribution’s label would leave nobody who may see the session')
  const contribution: Contribution = { ...given, digest, ordinal: current.contributions + 1 }
  const trimmed = current.recent.length >= page_size && standing.pages_stored > current.pages
  const added: StoredSession = {
    ...current,
    label,
    updated_at: given.at,
    contributions: contribution.ordinal,
    contributors: standing.by_contributor.has(given.contributor_id) ? current.contributors : current.contributors + 1,
    pages: trimmed ? current.pages + 1 : current.pages,
    recent: appendRecent(current.recent, given, trimmed ? page_size : 0),
    chain: sha256(current.chain + digest),
  }
  const sorted = withOpinion(standing, contribution)
  const next = current.origin
    ? forwardToOrigin(added, standing, contribution)
    : decideSession(added, sorted, 'contribution', given.submitted_by, given.at).next
  return { next, contribution, sorted }
}

function checkContribution(
  current: StoredSession,
  standing: ContributionIndex,
  contributor_id: string,
  max: number,
): Refusal | undefined {
  if (!openStates.has(current.state)) return refuse('session_closed', `the session is ${current.state}`)
  const { contributors, n } = current.policy
  if (contributors && !current.origin && !contributors.includes(contributor_id)) {
    return refuse('not_contributor', 'the session names its contributors, and this is none of them')
  }
  if (current.contributions >= max) return refuse('quorum_full', `the session keeps at most ${max} contributions`)
  if (!standing.by_contributor.has(contributor_id) && standing.by_contributor.size >= n) {
    return refuse('quorum_full', `the session has all its ${n} contributors`)
  }
  return undefined
}

/** A session that lives at a peer: the contribution goes there, and only a result from there decides. */
function forwardToOrigin(added: StoredSession, standing: ContributionIndex, contribution: Contribution): StoredSession {
  const { origin } = added
  if (!origin || !supersedes(contribution, standing.by_contributor.get(contribution.contributor_id))) return added
  const { pair_score, accuracy, credibility, classification } = contribution
  const message: SessionOutboxEntry = {
    type: 'message',
    id: `contribution:${contribution.id}`,
    peer: origin.peer,
    kind: 'contribution',
    body: { session_id: added.id, pair_score, accuracy, credibility, classification },
  }
  const moved =
    added.state === 'PROPOSED'
      ? enterState(added, 'PENDING_QUORUM', 'contribution', contribution.submitted_by, contribution.at)
      : added
  return addToOutbox(moved, [message])
}

/** Applies the decision on the given opinions to the session: the same path for contributions, resolve and deadline. */
export function decideSession(
  current: StoredSession,
  sorted: readonly Opinion[],
  trigger: Transition['trigger'],
  by: string,
  at: string,
): { next: StoredSession; decision: QuorumDecision } {
  const decision = decideSorted(current.policy, sorted)
  const seen: StoredSession = { ...current, result: decision.combination, updated_at: at }
  return { next: applyDecision(seen, decision, sorted, trigger, by, at), decision }
}

function applyDecision(
  current: StoredSession,
  decision: QuorumDecision,
  sorted: readonly Opinion[],
  trigger: Transition['trigger'],
  by: string,
  at: string,
): StoredSession {
  if (decision.state === 'RATIFIED') return ratifySession(current, decision.decision, trigger, by, at)
  if (decision.state === 'IN_CONFLICT') return enterConflict(current, decision, sorted, trigger, by, at)
  // Undecided again does not undo a conflict: only a ratification or a person ends it.
  return current.state === 'PROPOSED' && current.contributions > 0
    ? enterState(current, 'PENDING_QUORUM', trigger, by, at)
    : current
}

/** Makes the session RATIFIED; evidence, results and emissions follow from what it then owes. */
export function ratifySession(
  current: StoredSession,
  decision: 'match' | 'non_match',
  trigger: Transition['trigger'],
  by: string,
  at: string,
): StoredSession {
  const closed = closeDissent(current, trigger === 'attest' ? 'attested' : 'ratified', at)
  const { reason: _gone, deadline_ts: _past, ...rest } = closed
  const entered = enterState({ ...rest, decision }, 'RATIFIED', trigger, by, at)
  return addToOutbox(entered, [{ type: 'evidence', id: 'evidence' }])
}

/** Makes the session IN_CONFLICT with a dissent record; a session in conflict gets a new record only on `resolve`. */
function enterConflict(
  current: StoredSession,
  decision: ConflictDecision,
  sorted: readonly Opinion[],
  trigger: Transition['trigger'],
  by: string,
  at: string,
): StoredSession {
  const again = current.state === 'IN_CONFLICT'
  if (again && trigger !== 'resolve') return current
  const { deadline_ts: _past, ...rest } = again ? closeDissent(current, 'superseded', at) : current
  const { reason } = decision
  // The record before is part of the name: two resolve attempts over the same contributions make two records.
  const about = [current.id, current.chain, current.history.length, current.open_dissent_id ?? null]
  const id = `dis_${canonicalDigest(about).slice(0, 32)}`
  const record: DissentRecord = {
    tenant_id: current.tenant_id,
    label: current.label,
    session_id: current.id,
    lens_id: current.lens_id,
    created_at: at,
    status: 'open',
    body: buildDissent(current.policy, sorted, decision),
  }
  const entered = again ? { ...rest, reason } : enterState({ ...rest, reason }, 'IN_CONFLICT', trigger, by, at)
  return addToOutbox({ ...entered, open_dissent_id: id }, [{ type: 'dissent', id, record }])
}

/** The deadline has passed: a session without a decision is in conflict, as inconclusive. */
export function applyDeadline(
  current: StoredSession,
  sorted: readonly Opinion[],
  by: string,
  at: string,
): StoredSession {
  if (current.state !== 'PROPOSED' && current.state !== 'PENDING_QUORUM') return current
  const { next, decision } = decideSession(current, sorted, 'deadline', by, at)
  if (next.state === 'RATIFIED' || next.state === 'IN_CONFLICT') return next
  return enterConflict(
    next,
    { state: 'IN_CONFLICT', reason: 'inconclusive', combination: decision.combination },
    sorted,
    'deadline',
    by,
    at,
  )
}

/**
 * Withdraws the session from any state but WITHDRAWN. Peers are told; after a ratification all sinks, before one those that
 * wait for the session to end.
 */
export function withdrawSession(
  current: StoredSession,
  sinks: readonly string[],
  by: string,
  at: string,
  waiting: readonly string[] = [],
): StoredSession | Refusal {
  if (current.state === 'WITHDRAWN') return refuse('session_closed', 'the session is WITHDRAWN')
  const wasRatified = current.state === 'RATIFIED'
  const { deadline_ts: _past, ...rest } = closeDissent(current, 'withdrawn', at)
  const withdrawn = enterState(rest, 'WITHDRAWN', 'cancel', by, at)
  const told: SessionOutboxEntry[] = current.invited.map((peer) => ({
    type: 'message',
    id: `retraction:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: current.id, retraction: { at, was: current.state } },
  }))
  const emitted: SessionOutboxEntry[] = (wasRatified ? sinks : waiting).map((sink) => emissionEntry(sink, 'retracted'))
  return addToOutbox(withdrawn, [...told, ...emitted])
}

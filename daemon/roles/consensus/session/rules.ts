// The state machine of a session: pure functions from the stored session to the next one.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { type DecideSorted, decideSorted, type QuorumDecision } from '../combine/decide.ts'
import { describeConflict } from '../combine/dissent.ts'
import { compareCanonicallyThenById, type Opinion } from '../combine/opinion.ts'
import type { DescribedDissent } from './dissent/model.ts'
import type { SessionOutboxEntry, StoredSession, Transition } from './model.ts'
import { addToOutbox, closeDissent, emissionEntry, enterState } from './transition/rules.ts'

type ConflictDecision = Extract<QuorumDecision, { state: 'IN_CONFLICT' }>

/**
 * Decides on the opinions and applies the decision to the session; used by contributions, resolve and deadline.
 * `decide` lets a caller time the combiner.
 */
export function decideSession(
  current: StoredSession,
  sorted: readonly Opinion[],
  trigger: Transition['trigger'],
  by: string,
  at: string,
  decide: DecideSorted = decideSorted,
): { next: StoredSession; decision: QuorumDecision } {
  const decision = decide(current.policy, sorted)
  const combined: StoredSession = { ...current, result: decision.combination, updated_at: at }
  return { next: applyDecision(combined, decision, sorted, trigger, by, at), decision }
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

/** Makes the session RATIFIED and queues its evidence, which results and emissions follow. */
export function ratifySession(
  current: StoredSession,
  decision: 'match' | 'non_match',
  trigger: Transition['trigger'],
  by: string,
  at: string,
): StoredSession {
  const closed = closeDissent(current, trigger === 'attest' ? 'attested' : 'ratified', at)
  const { reason: _reason, deadline_ts: _deadline, ...rest } = closed
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
  const { deadline_ts: _deadline, ...rest } = again ? closeDissent(current, 'superseded', at) : current
  const { reason } = decision
  // The id covers the previous record: two resolve attempts over the same contributions make two records.
  const identity = [current.id, current.chain, current.history.length, current.open_dissent_id ?? null]
  const id = `dis_${canonicalDigest(identity).slice(0, 32)}`
  const record: DescribedDissent = {
    tenant_id: current.tenant_id,
    label: current.label,
    session_id: current.id,
    lens_id: current.lens_id,
    created_at: at,
    status: 'open',
    body: describeConflict(current.policy, sorted.toSorted(compareCanonicallyThenById), decision),
  }
  const entered = again ? { ...rest, reason } : enterState({ ...rest, reason }, 'IN_CONFLICT', trigger, by, at)
  return addToOutbox({ ...entered, open_dissent_id: id }, [{ type: 'dissent', id, record }])
}

/** Most deliveries that a session has pending before it refuses to renew its dissent. */
const max_outbox_entries = 200

/**
 * Decides again on request. While the dissent of an earlier request is being analysed, the answer to that request is the
 * answer to this one: however often callers ask, a session has one analysis at a time.
 */
export function resolveSession(
  current: StoredSession,
  sorted: readonly Opinion[],
  by: string,
  at: string,
  decide: DecideSorted = decideSorted,
): StoredSession | Refusal {
  const { state, pending } = current
  if (state === 'RATIFIED' || state === 'WITHDRAWN') return refuse('session_closed', `the session is ${state}`)
  if (pending.some(({ type }) => type === 'dissent')) return current
  // Each renewed record queues a message to every peer: without a limit an unreachable peer would let the session grow.
  if (pending.length >= max_outbox_entries)
    return refuse(
      'unavailable',
      `${pending.length} deliveries of this session are pending, and the limit is ${max_outbox_entries}; retry once some are delivered`,
    )
  return decideSession(current, sorted, 'resolve', by, at, decide).next
}

/** The deadline has passed: a session without a decision is in conflict, as inconclusive. */
export function applyDeadline(
  current: StoredSession,
  sorted: readonly Opinion[],
  by: string,
  at: string,
  decide: DecideSorted = decideSorted,
): StoredSession {
  if (current.state !== 'PROPOSED' && current.state !== 'PENDING_QUORUM') return current
  const { next, decision } = decideSession(current, sorted, 'deadline', by, at, decide)
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
 * Withdraws the session from any state but WITHDRAWN. Peers are notified; after a ratification all `sinks`, before one
 * only those `waiting` for the session to end.
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
  const { deadline_ts: _deadline, ...rest } = closeDissent(current, 'withdrawn', at)
  const withdrawn = enterState(rest, 'WITHDRAWN', 'cancel', by, at)
  const messages: SessionOutboxEntry[] = current.invited.map((peer) => ({
    type: 'message',
    id: `retraction:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: current.id, retraction: { at, was: current.state } },
  }))
  const emitted: SessionOutboxEntry[] = (wasRatified ? sinks : waiting).map((sink) => emissionEntry(sink, 'retracted'))
  return addToOutbox(withdrawn, [...messages, ...emitted])
}

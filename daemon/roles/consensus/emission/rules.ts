// What an emission says of a session, and what becomes of one that is kept when its origin is heard again.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StatusEvent } from '../../../shared/coalition/hub-protocol.ts'
import type { SessionRuling } from '../../../shared/match-session/match-session.ts'
import type { EmissionEvent, StoredSession } from '../session/model.ts'
import type { SentEmission, StoredEmission } from './model.ts'

const stateAfter = { ratified: 'RATIFIED', retracted: 'WITHDRAWN' } as const

/** The same words each time, however often they are sent. The event must have happened to the session. */
export function emissionOf(session: StoredSession, event: EmissionEvent): SentEmission {
  const { lens_id, lens_version, subject, decision, result, evidence_block_id } = session
  const step = session.history.findLast(({ to }) => to === stateAfter[event])
  if (!step || !decision) throw new Error(`session ${session.id} has nothing ${event} to tell of`)
  return {
    event,
    session_id: session.id,
    seq: step.seq,
    at: step.at,
    lens_id,
    lens_version,
    ...(subject ? { subject } : {}),
    decision,
    score: result?.score ?? null,
    attested: session.attestation !== undefined,
    ...(evidence_block_id ? { evidence_block_id } : {}),
  }
}

/** What a match is told of its session: of one that was withdrawn before it decided, that alone. */
export function rulingOf(session: StoredSession, event: EmissionEvent): Omit<SessionRuling, 'correlation_id'> {
  const { id: session_id, tenant_id } = session
  const step = session.history.findLast(({ to }) => to === 'WITHDRAWN')
  if (!session.decision && event === 'retracted' && step) {
    return { tenant_id, session_id, seq: step.seq, event, at: step.at, score: null, attested: false }
  }
  const { lens_id: _lens, lens_version: _version, subject: _subject, ...ruling } = emissionOf(session, event)
  return { tenant_id, ...ruling }
}

/** What the coalition's feed tells of the same event, and no more than that. */
export function statusEventOf(session: StoredSession, event: EmissionEvent, event_id: string): StatusEvent {
  const { session_id, lens_id, at } = emissionOf(session, event)
  return { event_id, session_id, lens_id, state: stateAfter[event], at }
}

/** Sessions are numbered by their own sites: the id says whose it is, so that no peer reaches what another told. */
export function emissionId(origin: string, session_id: string): string {
  return `${session_id}@${origin}`
}

/**
 * What is kept once `given` has arrived as well; the same value when it says nothing new. An older word never takes the
 * place of a newer one, and the only thing that follows a ratification is its retraction. Refuses `idempotency_mismatch`
 * for two stories under one number, `session_closed` for a decision after the decision.
 */
export function mergeEmission(current: StoredEmission, given: StoredEmission): StoredEmission | Refusal {
  if (given.seq < current.seq) return current
  if (given.seq === current.seq) {
    if (given.digest === current.digest) return current
    return refuse('idempotency_mismatch', 'the origin told something else under this number')
  }
  if (current.status === 'withdrawn' || given.status === 'standing')
    return refuse('session_closed', `the origin’s decision is ${current.status} already`)
  return { ...given, received_at: current.received_at }
}

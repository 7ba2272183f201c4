// Builds emissions from a session, and merges a received emission into the stored one.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StatusEvent } from '../../../shared/coalition/hub-protocol.ts'
import type { SessionRuling } from '../../../shared/match-session/match-session.ts'
import type { EmissionEvent, StoredSession } from '../session/model.ts'
import type { SentEmission, StoredEmission } from './model.ts'

const stateAfter = { ratified: 'RATIFIED', retracted: 'WITHDRAWN' } as const

/** Equal content for every delivery. @throws Error unless the event has happened to the session. */
export function emissionOf(session: StoredSession, event: EmissionEvent): SentEmission {
  const { lens_id, lens_version, subject, decision, result, evidence_block_id } = session
  const step = session.history.findLast(({ to }) => to === stateAfter[event])
  if (!step || !decision) throw new Error(`session ${session.id} was not ${event}`)
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

/** The ruling that a match receives; without a decision when the session was withdrawn before it decided. */
export function rulingOf(session: StoredSession, event: EmissionEvent): Omit<SessionRuling, 'correlation_id'> {
  const { id: session_id, tenant_id } = session
  const step = session.history.findLast(({ to }) => to === 'WITHDRAWN')
  if (!session.decision && event === 'retracted' && step) {
    return { tenant_id, session_id, seq: step.seq, event, at: step.at, score: null, attested: false }
  }
  const { lens_id: _lens, lens_version: _version, subject: _subject, ...ruling } = emissionOf(session, event)
  return { tenant_id, ...ruling }
}

/** The entry for the coalition's status feed: it discloses nothing else of the emission. */
export function statusEventOf(session: StoredSession, event: EmissionEvent, event_id: string): StatusEvent {
  const { session_id, lens_id, at } = emissionOf(session, event)
  return { event_id, session_id, lens_id, state: stateAfter[event], at }
}

/**
 * The id of an emission. Sites choose session ids freely, so the origin in the id keeps a peer from overwriting
 * another's emissions.
 */
export function emissionId(origin: string, session_id: string): string {
  return `${session_id}@${origin}`
}

/**
 * The stored emission after `received` has arrived; `current` itself when that is a repeat or older. Only a retraction may
 * follow a ratification. Refuses `idempotency_mismatch` for other content under the same number, `session_closed` for a
 * second decision and for anything after a retraction.
 */
export function mergeEmission(current: StoredEmission, received: StoredEmission): StoredEmission | Refusal {
  if (received.seq < current.seq) return current
  if (received.seq === current.seq) {
    if (received.digest === current.digest) return current
    return refuse('idempotency_mismatch', `the origin sent other content under event number ${received.seq} before`)
  }
  if (current.status === 'withdrawn' || received.status === 'standing')
    return refuse('session_closed', `the origin’s decision is ${current.status} already`)
  return { ...received, received_at: current.received_at }
}

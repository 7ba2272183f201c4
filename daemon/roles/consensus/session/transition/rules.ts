// The small steps that every change of a session is made of: entering a state, owing others a word, having paid it.
import type { DissentResolution } from '../dissent/model.ts'
import type { EmissionEvent, SessionOutboxEntry, SessionState, StoredSession, Transition } from '../model.ts'

/** A word owed to a sink; the id is the same each time, so that a receiver can drop repeats. */
export function emissionEntry(sink: string, event: EmissionEvent): SessionOutboxEntry {
  return { type: 'emission', id: `emission:${event}:${sink}`, sink, event }
}

/** The open dissent record, if there is one, ends with this resolution. */
export function closeDissent(current: StoredSession, resolution: DissentResolution, at: string): StoredSession {
  const { open_dissent_id, ...rest } = current
  if (!open_dissent_id) return current
  return addToOutbox(rest, [
    { type: 'dissent_closed', id: `closed:${open_dissent_id}`, dissent_id: open_dissent_id, resolution, at },
  ])
}

/** States whose transition is followed by an event of its own for the result. */
export function isDecided(state: SessionState): boolean {
  return state === 'RATIFIED' || state === 'IN_CONFLICT'
}

/**
 * Number of the session's last event. Events are numbered without gaps: one for each contribution, one for each
 * transition, and one more for the result of a transition that decides.
 */
export function lastEventNumber({ contributions, history }: Pick<StoredSession, 'contributions' | 'history'>): number {
  return contributions + history.length + history.filter((step) => isDecided(step.to)).length
}

export function enterState(
  current: StoredSession,
  to: SessionState,
  trigger: Transition['trigger'],
  by: string,
  at: string,
): StoredSession {
  const { decision, reason, result } = current
  const step: Transition = {
    seq: lastEventNumber(current) + 1,
    at,
    from: current.history.length ? current.state : null,
    to,
    trigger,
    by,
    ...(to === 'RATIFIED' && decision ? { decision } : {}),
    ...(to === 'IN_CONFLICT' && reason ? { reason } : {}),
    ...(result ? { result } : {}),
  }
  return { ...current, state: to, updated_at: at, history: [...current.history, step] }
}

/** Adds to what the session owes; the relay delivers it. */
export function addToOutbox(current: StoredSession, more: readonly SessionOutboxEntry[]): StoredSession {
  const pending = [...current.pending, ...more]
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

/** One debt paid, and in its place what follows from it: in front of all later ones. A repeat changes nothing. */
export function replaceInOutbox(
  current: StoredSession,
  id: string,
  more: readonly SessionOutboxEntry[] = [],
): StoredSession {
  const pending = current.pending.flatMap((debt) => (debt.id === id ? more : [debt]))
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

// The steps that every change of a session consists of: entering a state, and adding to or removing from the outbox.
import type { DissentResolution } from '../dissent/model.ts'
import type { EmissionEvent, SessionOutboxEntry, SessionState, StoredSession, Transition } from '../model.ts'

/** The pending emission to a sink; its id is deterministic, so that a receiver can drop repeats. */
export function emissionEntry(sink: string, event: EmissionEvent): SessionOutboxEntry {
  return { type: 'emission', id: `emission:${event}:${sink}`, sink, event }
}

/** Resolves the open dissent record, if there is one. */
export function closeDissent(current: StoredSession, resolution: DissentResolution, at: string): StoredSession {
  const { open_dissent_id, ...rest } = current
  if (!open_dissent_id) return current
  return addToOutbox(rest, [
    { type: 'dissent_closed', id: `closed:${open_dissent_id}`, dissent_id: open_dissent_id, resolution, at },
  ])
}

/** Whether a transition to this state is followed by a separate event for the result. */
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

/** Adds entries to the session's outbox, which the relay delivers. */
export function addToOutbox(current: StoredSession, entries: readonly SessionOutboxEntry[]): StoredSession {
  const pending = [...current.pending, ...entries]
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

/** Replaces a delivered entry by its follow-ups, ahead of all later entries. A repeat changes nothing. */
export function replaceInOutbox(
  current: StoredSession,
  id: string,
  entries: readonly SessionOutboxEntry[] = [],
): StoredSession {
  const pending = current.pending.flatMap((entry) => (entry.id === id ? entries : [entry]))
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

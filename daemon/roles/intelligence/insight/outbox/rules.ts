// Pure changes of the outbox of an insight: events for its ledger and changes of linked signals that the relay delivers.
import type { NewLedgerEvent } from '../../ledger/model.ts'
import type { AttributedAction, StatusStep } from '../../signal/rules.ts'
import type { InsightOutboxEntry, StoredInsight } from '../model.ts'

/** Each link via a merged signal has its own entry, since such a link may be made more than once. */
export function buildFollowEntry(
  { events }: StoredInsight,
  signal_id: string,
  reported: number,
  action: AttributedAction,
  via?: string,
): InsightOutboxEntry {
  const { by, at, rationale } = action
  const reasonFields = { ...(rationale === undefined ? {} : { rationale }), ...(via === undefined ? {} : { via }) }
  const id = via === undefined ? `follow:${signal_id}` : `follow:${signal_id}:${via}:${events}`
  return { type: 'follow', id, signal_id, by, at, told: reported, ...reasonFields }
}

/** Adds ledger events for new steps of a linked signal. Steps that the ledger has, and steps after closing, are left out. */
export function recordSignalSteps(
  current: StoredInsight,
  signal_id: string,
  steps: readonly StatusStep[],
): StoredInsight {
  if (current.state === 'closed') return current
  const reportedSteps = current.links.find((each) => each.signal_id === signal_id)?.told
  const newSteps = steps.filter(({ at }) => reportedSteps !== undefined && at >= reportedSteps)
  if (newSteps.length === 0) return current
  const reported = (newSteps.at(-1)?.at ?? 0) + 1
  const links = current.links.map((each) => (each.signal_id === signal_id ? { ...each, told: reported } : each))
  return recordLedgerEvents(
    { ...current, links },
    newSteps.map(({ change: { event: _event, label: _label, ...change } }) => ({
      type: 'signal_disposition_set',
      signal_id,
      ...change,
    })),
  )
}

/** Numbers the events and adds their delivery to the outbox. */
export function recordLedgerEvents(current: StoredInsight, events: readonly NewLedgerEvent[]): StoredInsight {
  const entries = events.map((event, at): InsightOutboxEntry => {
    const seq = current.events + at + 1
    return { type: 'event', id: `event:${seq}`, event: { ...event, seq } }
  })
  return addToOutbox({ ...current, events: current.events + events.length }, entries)
}

export function addToOutbox(current: StoredInsight, entries: readonly InsightOutboxEntry[]): StoredInsight {
  const pending = [...current.pending, ...entries]
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

/** Removes delivered entries; a repeat changes nothing. */
export function removeFromOutbox(current: StoredInsight, ids: ReadonlySet<string>): StoredInsight {
  const pending = current.pending.filter(({ id }) => !ids.has(id))
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

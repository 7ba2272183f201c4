// Ids and numbers of feed entries; a number is taken only after all earlier entries were read.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { FeedEntry, StatusEvent } from '../../../shared/coalition/hub-protocol.ts'
import type { StoredFeedEntry } from './model.ts'

export function feedTopic(tenant_id: string): string {
  return `hub.feed/${tenant_id}`
}

/** Derived from the number: when two calls take the same number, the store accepts one of them. */
export function entryId(tenant_id: string, seq: number): string {
  return `feed_${sha256(JSON.stringify([tenant_id, seq])).slice(0, 32)}`
}

/** Unique, since names of nodes contain no slash. */
export function eventKey(node: string, event_id: string): string {
  return `${node}/${event_id}`
}

export function isSameEvent(entry: StoredFeedEntry, event: StatusEvent): boolean {
  const { session_id, lens_id, state, at } = event
  return entry.session_id === session_id && entry.lens_id === lens_id && entry.state === state && entry.at === at
}

export function entryOf({ tenant_id: _tenant, event: _key, ...entry }: StoredFeedEntry): FeedEntry {
  return entry
}

/** The last number that a reader has seen; 0, which reads from the oldest entry, for anything that is not a number. */
export function parseLastEventId(last_event_id: string | undefined): number {
  return /^\d{1,15}$/.test(last_event_id ?? '') ? Number(last_event_id) : 0
}

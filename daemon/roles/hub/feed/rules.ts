// Names and numbers of feed entries: who takes a number must have seen all before it.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { FeedEntry, StatusEvent } from '../../../shared/coalition/hub-protocol.ts'
import type { StoredFeedEntry } from './model.ts'

/** The id is that of the number: of two that take the same one, the store lets one have it. */
export function entryId(tenant_id: string, seq: number): string {
  return `feed_${sha256(JSON.stringify([tenant_id, seq])).slice(0, 32)}`
}

/** Names of nodes have no slash. */
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

/** Where a reader goes on: after the number that it saw last. Anything that is none: from the first that is kept. */
export function parseLastEventId(last_event_id: string | undefined): number {
  return /^\d{1,15}$/.test(last_event_id ?? '') ? Number(last_event_id) : 0
}

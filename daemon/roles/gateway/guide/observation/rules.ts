// Pure decisions of observations: which repeats which, and which an administrator should look at.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { labelKeyOf } from '../../../../kernel/store/store.ts'
import type { Emitter, Envelope, StoredObservation } from './model.ts'

export const observation_keep_ms = 30 * 86_400_000

const normalInstant = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}(?:\d{0,2}[1-9])?Z$/

/** The same instant is written in one way, with every digit of its fraction: emitters may count microseconds. */
export function normaliseInstant(timestamp: string): string {
  if (normalInstant.test(timestamp)) return timestamp
  const fraction = /\.(\d+)/.exec(timestamp)?.[1] ?? ''
  const digits = fraction.slice(3, 9).replace(/0+$/, '')
  return new Date(timestamp).toISOString().replace('Z', `${digits}Z`)
}

/**
 * Of document 002: (trace_id, event_type, timestamp, service), within a tenant, a label and an emitter: a caller that knows the trace of another
 * could otherwise send the same key first, so that the event of the other would be taken for a repeat.
 */
export function dedupKeyOf(
  { tenant_id, label, emitted_by }: Pick<StoredObservation, 'tenant_id' | 'label' | 'emitted_by'>,
  event: Pick<Envelope, 'trace_id' | 'event_type' | 'timestamp' | 'service'>,
): string {
  const { trace_id, event_type, timestamp, service } = event
  const { token_subject, context } = emitted_by
  const place = [tenant_id, labelKeyOf({ tenant_id, label }), token_subject, context]
  return sha256(JSON.stringify([...place, trace_id, event_type, normaliseInstant(timestamp), service]))
}

/**
 * Ids under which a repeat within the window may be stored: that of the window of the time, then that of the window before.
 * An observation is created under the first. They begin with the time of the event, which repeats share: observations that
 * come together lie together in every index of a store, which then writes few pages of it.
 */
export function observationIds(
  { dedup_key, timestamp }: Pick<StoredObservation, 'dedup_key' | 'timestamp'>,
  at: number,
  window_ms: number,
  windows = 2,
): readonly string[] {
  const window = Math.floor(at / window_ms)
  const time = Math.max(0, Date.parse(timestamp)).toString(16).padStart(12, '0')
  const idOf = (each: number) => `observation_${time}${dedup_key.slice(0, 32)}_${each.toString(36)}`
  return Array.from({ length: windows }, (_, before) => idOf(window - before))
}

/** A service acts for others by its own name: no caller that it names is suspicious. */
export function needsReview(
  username: string,
  { token_subject, token_roles }: Emitter,
  principals: ReadonlySet<string>,
): boolean {
  if (username === token_subject) return false
  return !(principals.has(token_subject) || token_subject.startsWith('role:') || token_roles.includes('service'))
}

/** Services whose newest observation is older than this are degraded: they may have stopped to emit. */
export function findStaleServices(
  last_ingest: ReadonlyMap<string, number>,
  now: number,
  stale_ms: number,
): { readonly service: string; readonly last_ingest_ts: number }[] {
  return [...last_ingest]
    .filter(([, at]) => now - at > stale_ms)
    .map(([service, last_ingest_ts]) => ({ service, last_ingest_ts }))
    .sort((one, other) => (one.service < other.service ? -1 : 1))
}

/**
 * The person or service that an observation is counted as of, where something needs several of them: the subject of the token, whichever name
 * the envelope has. Administrators alone are believed: they replay what others did, and could promote an artifact directly.
 */
export function authorOf({
  caller_identity,
  emitted_by,
}: Pick<StoredObservation, 'caller_identity'> & Partial<Pick<StoredObservation, 'emitted_by'>>): string {
  const isBelieved = emitted_by === undefined || emitted_by.token_roles.includes('admin')
  return isBelieved ? caller_identity.username : emitted_by.token_subject
}

/** What is known when an observation is accepted; its place in the order comes when it is stored. */
export type PendingObservation = Omit<StoredObservation, 'batch_seq' | 'batch_at'>

type StampedFields = Pick<
  PendingObservation,
  'tenant_id' | 'label' | 'event_type' | 'trace_id' | 'parent_trace_id' | 'conversation_id' | 'service' | 'timestamp'
> &
  Pick<PendingObservation, 'caller_identity' | 'emitted_by' | 'payload'>

/** `now`: when it was accepted. */
export function stampObservation(
  fields: StampedFields,
  now: number,
  principals: ReadonlySet<string>,
): PendingObservation {
  const { username } = fields.caller_identity
  return {
    ...fields,
    uds: { timestamp: now, username, visibility: fields.label === undefined ? 'tenant' : 'label' },
    ...{ create_ts: now, update_ts: now, schema_version: 1, tags: [], notes: '' },
    needs_review: needsReview(username, fields.emitted_by, principals),
    dedup_key: dedupKeyOf(fields, fields),
    expires_ts: now + observation_keep_ms,
  }
}

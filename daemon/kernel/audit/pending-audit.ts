// Audit events of writes to a store that shares no transaction with the chain. They are stored first, and join the
// chain once the write is certain.
import type { AuditEvent } from './audit-chain.ts'

/** A write that has begun. `write` is its id, `plan` the record of it that its store made. */
export type PendingWrite = { readonly write: string; readonly plan: string }

/**
 * Durable when a promise resolves, in the role's local database. Every write that began ends sealed or dropped, also
 * after a restart: no effect lacks its record, and no record lacks its effect.
 */
export interface PendingAudit {
  /** Called before the write is sent. Events that do not match their schema throw, and nothing is stored. */
  begin(pending: PendingWrite, events: readonly AuditEvent[]): Promise<void>
  /** The write succeeded: its events join the chain. An unknown write changes nothing. */
  seal(write: string): Promise<void>
  /** The write failed for good: its events are removed. */
  drop(write: string): Promise<void>
  /** Pending writes, oldest first. */
  pending(): Promise<PendingWrite[]>
  /** Appends events that belong to no write. */
  append(events: readonly AuditEvent[]): Promise<void>
}

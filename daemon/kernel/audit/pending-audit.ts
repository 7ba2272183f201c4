// Audit events of writes to a store that shares no transaction with the chain: kept here first, sealed when it is
// certain.
import type { AuditEvent } from './audit-chain.ts'

/** A write that was begun, as its store wrote it down; `write` names it. */
export type PendingWrite = { readonly write: string; readonly plan: string }

/**
 * Durable when a promise resolves, in the role's local database. What was begun ends sealed or dropped, be it after a
 * restart: so no effect is without its record, and no record without its effect.
 */
export interface PendingAudit {
  /** Before the write is sent. Events that are not of their schema throw, and nothing is kept. */
  begin(pending: PendingWrite, events: readonly AuditEvent[]): Promise<void>
  /** The write was done: its events join the chain. A write that is not pending changes nothing. */
  seal(write: string): Promise<void>
  /** The write was not done, and never will be. */
  drop(write: string): Promise<void>
  /** Oldest first. */
  pending(): Promise<PendingWrite[]>
  /** Events that no write goes with. */
  append(events: readonly AuditEvent[]): Promise<void>
}

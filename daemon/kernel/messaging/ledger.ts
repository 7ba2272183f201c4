// The ledger of a receiver: one entry for each message that arrived, and what became of it.
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { MessageNumber } from './journal.ts'
import type { MessageKind } from './message-kind.ts'

export type MessageArrival = {
  readonly epoch: number
  readonly seq: number
  readonly digest: string
  readonly prev: string
  readonly msg_id: string
  readonly kind: MessageKind
  /** Epoch milliseconds. */
  readonly at: number
  /** Epoch milliseconds: the end of its validity at this site. */
  readonly not_after: number
}

/**
 * `received`: taken in, its effect not yet certain. `set_aside`: the same, and it waits for a role that the site does not
 * run. `lost`: proven, but its files are gone or there was no room for it, so it counts as missing until they arrive
 * again. The others are final.
 */
export type ArrivalState = 'received' | 'set_aside' | 'lost' | 'applied' | 'refused' | 'quarantined'

/** The entry of a number in the ledger. `code`: the problem code of a refusal, or the reason of a quarantine. */
export type LedgerEntry = MessageArrival & { readonly state: ArrivalState; readonly code: string }

export function hasEnded({ state }: LedgerEntry): boolean {
  return state !== 'received' && state !== 'set_aside' && state !== 'lost'
}

/** A message that waits for a role. `bytes`: of its files. */
export type SetAsideMessage = LedgerEntry & { readonly role: string; readonly bytes: number }

/** `audit`: filed in the same transaction, unless the message was set aside before. */
export type SetAsideRecord = MessageNumber & {
  readonly role: string
  readonly bytes: number
  readonly audit: readonly AuditEvent[]
}

/**
 * A refused message or file on its way to quarantine. `fingerprint`: the same for the same files and reason. `item`: the id
 * that it gets there, unless it has one. `audit`: where no outcome in the ledger has filed it.
 */
export type QuarantineRecord = {
  readonly fingerprint: string
  readonly item: string
  readonly audit?: AuditEvent
}

/** `is_new`: it had no id before. */
export type QuarantineEntryId = { readonly item: string; readonly is_new: boolean }

/** The outcome of a number. `audit`: filed in the same transaction, unless the number had an outcome before. */
export type ArrivalOutcome = {
  readonly epoch: number
  readonly seq: number
  readonly state: Exclude<ArrivalState, 'received' | 'set_aside' | 'lost'>
  readonly code: string
  readonly audit?: readonly AuditEvent[]
}

// Decisions of people about stored messages: releases from quarantine, dismissals, and purges.
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Refusal } from '../error/errors.ts'
import type { Label } from '../label/label.ts'
import type { PurgeFinds } from './purge-records.ts'
import type { WaivableReason } from './release.ts'

export type ReleaseOrder = {
  /** Id of the item, without its peer. */
  readonly id: string
  readonly waiver: WaivableReason
  /** SHA-384 of body and envelope. */
  readonly digests: readonly string[]
  readonly label: Label | undefined
}

/** Finds of a purge since it was first ordered, and the work that is left. */
export type PurgeResult = PurgeFinds & {
  /** SHA-384 of the bodies to purge. */
  readonly bodies: readonly string[]
  /** Whether old bytes may be left inside the journal's file. */
  readonly journal: 'rewritten' | 'zeroed' | 'busy'
}

export interface Custody {
  /**
   * Lets the transport take in the item once more, waiving this one reason for exactly these bytes. Durable with its
   * audit events when it resolves. Refuses `conflict` when channel or item do not allow it, and `not_found` for an
   * unknown peer.
   */
  release(peer: string, terms: ReleaseOrder, audit: readonly AuditEvent[]): Promise<Refusal | undefined>
  /**
   * Removes an item from quarantine for good, also that of a peer that is not pinned any more. Durable with its audit
   * events before anything is removed. Refuses `not_found` for an item that does not exist, and `conflict` while it is being
   * released or cannot be removed.
   */
  dismiss(peer: string, id: string, audit: readonly AuditEvent[]): Promise<Refusal | undefined>
  /**
   * Removes a body from every place, now and whenever it arrives again. `digest`: its SHA-384, or that of its
   * statement. The order is durable, with its audit events, before anything is removed. `running`: the purge
   * continues; call again for its result.
   */
  purge(digest: string, reason: string, audit: readonly AuditEvent[]): Promise<PurgeResult | 'running'>
}

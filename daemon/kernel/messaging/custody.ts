// Decisions of people about the bytes that a transport keeps: releases from quarantine, and purges.
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Refusal } from '../error/errors.ts'
import type { Label } from '../label/label.ts'
import type { PurgeFinds } from './purge-records.ts'
import type { WaivableReason } from './release.ts'

export type ReleaseOrder = {
  /** Of the item, without its peer. */
  readonly id: string
  readonly waiver: WaivableReason
  /** SHA-384 of body and envelope. */
  readonly digests: readonly string[]
  readonly label: Label | undefined
}

/** Finds of a purge since it was first ordered, and the work that is left. */
export type PurgeResult = PurgeFinds & {
  /** SHA-384 of the bodies that the order is about. */
  readonly bodies: readonly string[]
  /** Whether old bytes may be left inside the journal's file. */
  readonly journal: 'rewritten' | 'zeroed' | 'busy'
}

export interface Custody {
  /**
   * Lets the item be taken in once more, passing over this one reason for exactly these bytes; durable with its audit
   * events when it resolves. Refuses `conflict` when channel or item do not allow it, `not_found` for an unknown peer.
   */
  release(peer: string, terms: ReleaseOrder, audit: readonly AuditEvent[]): Promise<Refusal | undefined>
  /**
   * Removes a body wherever it lies, and whenever it comes again. `digest`: its SHA-384, or that of its statement. The
   * order is durable, with its audit events, before anything is removed. `running`: it goes on; ask again for the end.
   */
  purge(digest: string, reason: string, audit: readonly AuditEvent[]): Promise<PurgeResult | 'running'>
}

// The audit chain: events with actor, action and target. Each record holds the hash of the record before it.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../encoding/canonical-json.ts'
import { label } from '../label/label.ts'
import type { DocumentTotal } from '../store/store.ts'

/** An event as the operation describes it. The store adds writer, sequence number and hashes. */
export const auditEvent = z.strictObject({
  at: z.iso.datetime(),
  action: z.string().meta({ description: 'The address of the operation, or of the event it caused' }),
  outcome: z.enum(['done', 'refused']),
  tenant_id: z.string(),
  subject: z.string(),
  actor: z.string().optional(),
  target: z.string().meta({ description: 'The id of the object that the action changed' }),
  trace_id: z.string(),
  detail: z.record(z.string(), z.unknown()),
  label: label.optional(),
})
export type AuditEvent = z.infer<typeof auditEvent>

/** A stored record. When `event` has expired only its digest remains, and the chain still verifies. */
export const auditRecord = z.strictObject({
  writer: z.string().meta({ description: 'role@node; each writer has its own chain' }),
  seq: z.int().min(1),
  prev: z.string().meta({ description: 'Hash of the previous record; 64 zeros for the first' }),
  event_digest: z.string(),
  hash: z.string(),
  event: auditEvent.optional(),
})
export type AuditRecord = z.infer<typeof auditRecord>

export const genesis_hash = '0'.repeat(64)

/** SHA-256 over writer, sequence number, previous hash and digest of the event. */
export function hashRecord(writer: string, seq: number, prev: string, event_digest: string): string {
  return sha256(canonicalJson([writer, seq, prev, event_digest]))
}

export type AuditQuery = {
  tenant_id?: string
  action?: string
  target?: string
  subject?: string
  /** Inclusive lower and exclusive upper instants, RFC 3339. */
  since?: string
  until?: string
  /** Only records whose label key is one of these; unlabelled records always pass. */
  label_keys?: readonly string[]
  limit: number
  /** Newest first from this sequence, exclusive; or oldest first when `ascending`. */
  after_seq?: number
  ascending?: boolean
}

export type ChainFault = { writer: string; seq: number; fault: 'altered' | 'missing' | 'reordered' }
export type ChainHead = { writer: string; seq: number; hash: string }

export interface AuditLog {
  /** Resolves once the records are on disk. */
  append(events: readonly AuditEvent[]): Promise<void>
  list(query: AuditQuery): Promise<AuditRecord[]>
  /** Records that match, in pages before and after too: counted among the newest `limit` that the caller may see. */
  count(query: AuditQuery): Promise<DocumentTotal>
  labelKeys(): Promise<string[]>
  head(): Promise<ChainHead>
  /** The first record that is altered, missing or out of order; undefined when the chain is whole. */
  verify(): Promise<ChainFault | undefined>
  /**
   * Drops the bodies of events before the instant (RFC 3339) and keeps their digests. Resolves with the number
   * dropped.
   */
  expire(before: string): Promise<number>
}

/** Checks consecutive records, oldest first, from a trusted hash. Every verification uses this pure rule. */
export function verifyChain(
  records: readonly AuditRecord[],
  from: { seq: number; hash: string },
): ChainFault | undefined {
  let { seq, hash } = from
  for (const record of records) {
    if (record.seq !== seq + 1)
      return { writer: record.writer, seq: record.seq, fault: record.seq > seq + 1 ? 'missing' : 'reordered' }
    const bodyHolds = record.event === undefined || sha256(canonicalJson(record.event)) === record.event_digest
    const sealed = hashRecord(record.writer, record.seq, record.prev, record.event_digest) === record.hash
    if (record.prev !== hash || !bodyHolds || !sealed)
      return { writer: record.writer, seq: record.seq, fault: 'altered' }
    seq = record.seq
    hash = record.hash
  }
  return undefined
}

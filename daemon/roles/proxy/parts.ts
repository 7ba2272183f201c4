// The parts that boot supplies to the proxy role: the serving threads, and the journal that they write.

import type { Refusal } from '../../kernel/error/errors.ts'
import { part } from '../../kernel/role/part.ts'
import type { TopDenials } from './denial/top-denials.ts'

/** Names of settings, as in `proxy.allowlist`. */
export type ProxyReloadResult = {
  /** Changed settings that are in force in every thread. */
  readonly applied: string[]
  /** Changed settings that need a restart. */
  readonly needs_restart: string[]
  /** Rules in force. */
  readonly rules: number
}

/** Sums over the threads. */
export type DataPlaneStatistics = {
  readonly threads: number
  readonly connections: number
  readonly cache_bytes: number
  readonly cache_entries: number
}

export interface DataPlane {
  /** Reads the profile again and applies all of it. A refusal has changed nothing. */
  reload(): Promise<ProxyReloadResult | Refusal>
  /** Adds the counts of the threads to the metrics. */
  report(): Promise<DataPlaneStatistics>
}
export const dataPlanePart = part<DataPlane>('data-plane')

/** Audit lines that wait for the store, in segments. */
export interface AuditJournal {
  /** Names of the sealed segments, oldest first. */
  sealed(): Promise<string[]>
  read(name: string): Promise<{ readonly bytes: Uint8Array; readonly text: string; readonly isTorn: boolean }>
  remove(name: string): Promise<void>
  /** Bytes of all segments. Notifies the threads when the journal has become full, or has room again. */
  measure(): Promise<number>
  /** True: the store keeps whole segments. False: each record is a document, for other readers of the store. */
  readonly storesWholeSegments: boolean
}
export const auditJournalPart = part<AuditJournal>('audit-journal')

/** `since`: RFC 3339. */
export type DenialStatistics = { readonly since: string; readonly top: TopDenials }
export const denialsPart = part<DenialStatistics>('denials')

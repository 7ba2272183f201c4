// What boot supplies to the proxy role: the threads that serve, and the journal that they write.

import type { Refusal } from '../../kernel/error/errors.ts'
import { part } from '../../kernel/operation/call.ts'
import type { TopDenials } from './denial/top-denials.ts'

/** Names of settings, as in `proxy.allowlist`. */
export type ProxyReloadResult = {
  /** What changed, and is in force in every thread. */
  readonly applied: string[]
  /** What changed and was left as it is. */
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
  /** Reads the profile again and goes by it, in whole: refused, nothing has changed. */
  reload(): Promise<ProxyReloadResult | Refusal>
  /** Brings what the threads have counted into the metrics. */
  report(): Promise<DataPlaneStatistics>
}
export const dataPlanePart = part<DataPlane>('plane')

/** Audit lines that wait for the store, in segments. */
export interface AuditJournal {
  /** Names of those that are whole, oldest first. */
  sealed(): Promise<string[]>
  read(name: string): Promise<{ readonly bytes: Uint8Array; readonly text: string; readonly isTorn: boolean }>
  remove(name: string): Promise<void>
  /** Bytes of all; looks whether that is more than the journal may hold, and if so tells the threads. */
  measure(): Promise<number>
  /** The store takes segments as they are. Else each record is a document of its own, for others who search the store. */
  readonly storesWholeSegments: boolean
}
export const auditJournalPart = part<AuditJournal>('audit-journal')

/** `since`: RFC 3339. */
export type DenialStatistics = { readonly since: string; readonly top: TopDenials }
export const denialsPart = part<DenialStatistics>('denied')

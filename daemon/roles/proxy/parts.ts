// What boot supplies to the proxy role: the threads that serve, and the journal that they write.
import { part } from '../../kernel/call.ts'
import type { Refused } from '../../kernel/errors.ts'
import type { TopDenied } from './denial/top.ts'

/** Names of settings, as in `proxy.allowlist`. */
export type Reloaded = {
  /** What changed, and is in force in every thread. */
  readonly applied: string[]
  /** What changed and was left as it is. */
  readonly needs_restart: string[]
  /** Rules in force. */
  readonly rules: number
}

/** Sums over the threads. */
export type PlaneStanding = {
  readonly threads: number
  readonly connections: number
  readonly cache_bytes: number
  readonly cache_entries: number
}

export interface Plane {
  /** Reads the profile again and goes by it, in whole: refused, nothing has changed. */
  reload(): Promise<Reloaded | Refused>
  /** Brings what the threads have counted into the metrics. */
  report(): Promise<PlaneStanding>
}
export const planePart = part<Plane>('plane')

/** Audit lines that wait for the store, in segments. */
export interface AuditJournal {
  /** Names of those that are whole, oldest first. */
  sealed(): Promise<string[]>
  read(name: string): Promise<{ readonly bytes: Uint8Array; readonly text: string; readonly isTorn: boolean }>
  remove(name: string): Promise<void>
  /** Bytes of all; looks whether that is more than the journal may hold, and if so tells the threads. */
  measure(): Promise<number>
  /** The store takes segments as they are. Else each record is a document of its own, for others who search the store. */
  readonly isKeptWhole: boolean
}
export const auditJournalPart = part<AuditJournal>('audit journal')

/** `since`: RFC 3339. */
export type Denied = { readonly since: string; readonly top: TopDenied }
export const deniedPart = part<Denied>('denied')

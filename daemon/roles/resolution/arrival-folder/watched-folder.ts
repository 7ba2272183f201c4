// Contract of the folders that records arrive in: their files, and the pieces in which these are taken, answered and put away.
import type { Refusal } from '../../../kernel/error/errors.ts'
import { part } from '../../../kernel/role/part.ts'
import type { NodeRecord } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'

/** A record of a file. `row`: 1-based, among the records that can be read; `line`: where it begins, in text. */
export type FileRow = { readonly row: number; readonly line?: number | undefined; readonly record: NodeRecord }

/** A record that was left out. */
export type RefusedRow = { readonly row?: number; readonly line?: number | undefined; readonly reason: string }

export type FolderScan = {
  /** Files that can be taken, in the order of their names; of very many the first of those found. */
  readonly waiting: readonly string[]
  /** Files that were taken and are not put away yet, by the names of their claims. */
  readonly claims: readonly string[]
  /** Entries that stay where they are, the first few, and the reasons. */
  readonly left: readonly { readonly name: string; readonly reason: string }[]
  readonly left_count: number
}

/** Records that were left out, and the first of them. */
export type LeftOutRows = { readonly count: number; readonly first: readonly RefusedRow[] }

export const max_listed_rows = 100

export type RowOptions = {
  /** Names the columns of the records, and that of their ids. */
  readonly lens: Lens
  readonly delimiter: string | undefined
  /** Records before it are not returned; those that cannot be read are reported all the same. */
  readonly first_row: number
  readonly onLeftOut: (rows: LeftOutRows) => void
}

/** An open file that was taken. */
export type ClaimedFile = {
  readonly file: string
  readonly size: number
  /** SHA-256 of the content, hexadecimal. */
  readonly digest: string
  /** Throws `Refusal('malformed')` for a file that cannot be read, such as one without the id column, or one that changes. */
  rows(options: RowOptions): AsyncIterable<FileRow>
  /** Throws `Refusal('malformed')` where the file has changed since it was opened. */
  checkUnchanged(): void
  /**
   * Appends to the answers, of which all after the first `from` bytes is discarded. Returns the bytes of all; durable when it
   * resolves.
   */
  append(answers: string, from: number): Promise<number>
  close(): void
}

/** Length of the random end of the name of a claim, with its dot. */
const claim_end = 17

/** The name of the file that a claim holds: the claim is named after it. */
export function fileOfClaim(claim: string): string {
  return claim.slice(0, -claim_end)
}

/** What goes beside a file that has failed. */
export type FailureReport = Readonly<Record<string, unknown>>

/** Throws `Refusal('unavailable')` for what may work later, such as a full disk, from every method. */
export interface WatchedFolder {
  scan(): Promise<FolderScan>
  /** Takes a file that is waiting. Undefined where it is gone or cannot be taken any more. */
  claim(file: string): Promise<string | undefined>
  /** Refuses `malformed` for a file that can no longer be read. The signal ends the reading of the content. */
  open(claim: string, signal: AbortSignal): Promise<ClaimedFile | Refusal>
  /** Moves the file, its answers, and a report of its failure out of work; all of them or none. */
  putAway(claim: string, failure: FailureReport | undefined): Promise<void>
}

/** What the worker found at its last look at a folder. */
export type FolderStatus = {
  readonly scanned_at?: string
  /** Why files wait now. */
  readonly held_up?: string | undefined
  /** The claim whose records are being registered. */
  readonly reading?: string | undefined
  readonly scan?: FolderScan | undefined
  /** How many of the waiting files of the scan, the first of them, wait no longer. */
  readonly taken?: number
  /** Attempts at each claim that failed for an unknown reason. */
  readonly attempts?: ReadonlyMap<string, number> | undefined
}

export type WatchedFolders = {
  readonly folders: ReadonlyMap<string, WatchedFolder>
  readonly statuses: Map<string, FolderStatus>
  /** Calls `onChange` for changes in the folders, from the first call on. */
  watch(onChange: () => void): void
}
export const watchedFoldersPart = part<WatchedFolders>('watched-folders')

// Limits the writes that wait for the cluster, per document and in all; others are refused at once, for a retry.
import type { StoredFields } from '../../../../daemon/kernel/store/store.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'

export type PendingWriteSize = { readonly writes: number; readonly bytes: number }
/** `all.writes` also limits the writes in doubt. */
export type BacklogLimits = { readonly each: PendingWriteSize; readonly all: PendingWriteSize }

/** A document accepts a few hundred writes a second; a listener has at most a thousand callers. */
export const default_backlog_limits: BacklogLimits = {
  each: { writes: 500, bytes: 16_000_000 },
  all: { writes: 10_000, bytes: 64_000_000 },
}

/** Estimated size of an update, whose content is computed when it is sent; a contribution has a few kilobytes. */
export const update_size_bytes = 16_000

export function estimateBytes(value: StoredFields): number {
  return JSON.stringify(value).length
}

const empty_backlog: PendingWriteSize = { writes: 0, bytes: 0 }

export class WriteBackpressure {
  readonly #limits: BacklogLimits
  readonly #by_document = new Map<string, PendingWriteSize>()
  #all = empty_backlog

  constructor(limits: BacklogLimits) {
    this.#limits = limits
  }

  /** Counts a waiting write; returns a function that ends its count. @throws ClusterFailure (`undone`) at the limit. */
  enter(key: string, bytes: number): () => void {
    const { each, all } = this.#limits
    const held = this.#by_document.get(key) ?? empty_backlog
    if (isFull(held, bytes, each)) throw new ClusterFailure('undone', 'too many writes wait for this document')
    if (isFull(this.#all, bytes, all)) throw new ClusterFailure('undone', 'too many writes wait')
    this.#change(key, 1, bytes)
    return () => this.#change(key, -1, -bytes)
  }

  #change(key: string, writes: number, bytes: number): void {
    const held = addToBacklog(this.#by_document.get(key) ?? empty_backlog, writes, bytes)
    if (held.writes === 0) this.#by_document.delete(key)
    else this.#by_document.set(key, held)
    this.#all = addToBacklog(this.#all, writes, bytes)
  }
}

/** The first write always finds room: the cluster decides whether a single write is too large. */
function isFull(held: PendingWriteSize, bytes: number, most: PendingWriteSize): boolean {
  return held.writes > 0 && (held.writes >= most.writes || held.bytes + bytes > most.bytes)
}

function addToBacklog(held: PendingWriteSize, writes: number, bytes: number): PendingWriteSize {
  return { writes: held.writes + writes, bytes: held.bytes + bytes }
}

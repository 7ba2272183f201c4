// A source of items that is polled at intervals: the contract of its adapters.
import type { Refusal } from '../../kernel/error/errors.ts'

/**
 * Documents that belong together, such as a file or a response. `set_id` is the same whenever the same set is
 * read again. A document that could not be read is replaced by a refusal with the reason. `is_whole`: the set is
 * taken as a whole or not at all; otherwise invalid documents are skipped.
 */
export type PolledBatch = {
  readonly set_id: string
  readonly documents: readonly (unknown | Refusal)[]
  readonly is_whole: boolean
}

/** `at`: the number of the document in its set, from 0. */
export type PolledDocumentFault = { readonly at: number; readonly detail: string }

export type PollResult = {
  readonly sets: readonly PolledBatch[]
  /** Position to continue from once the sets are durable; opaque, at most 4,096 characters. */
  readonly cursor: string | undefined
  /** Whether more items are available at once. */
  readonly has_more: boolean
  /**
   * Called when everything is durable, with the faults of each set by its number. Until it resolves, or a poll has
   * the new cursor, the same items are returned again, also after a crash.
   */
  acknowledge(faults: ReadonlyMap<number, readonly PolledDocumentFault[]>): Promise<void>
}

/** Parses JSON; refuses values that cannot be stored. */
export type JsonReader = (bytes: Uint8Array) => unknown | Refusal

export interface PolledSource {
  /** Items since the cursor. Refuses `unavailable` where the next poll may succeed. Ends with the signal. */
  poll(cursor: string | undefined, signal: AbortSignal): Promise<PollResult | Refusal>
}

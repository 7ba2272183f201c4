// A source of items that is polled at intervals: the contract of its adapters.
import type { Refusal } from '../../kernel/error/errors.ts'

/**
 * What belongs together, as a file or an answer. `known`: what it is known as, the same each time that the same comes again.
 * A document that could not be read is the refusal that says why. `is_whole`: all of it is taken or nothing; else what is no
 * signal is left out and the rest is taken.
 */
export type PolledSet = {
  readonly set_id: string
  readonly documents: readonly (unknown | Refusal)[]
  readonly is_whole: boolean
}

/** `at`: the number of the document in its set, from 0. */
export type PolledDocumentFault = { readonly at: number; readonly detail: string }

export type PollResult = {
  readonly sets: readonly PolledSet[]
  /** Where to go on once all of it is durable; opaque, at most 4,096 characters. */
  readonly cursor: string | undefined
  /** Whether there is more to be had at once. */
  readonly has_more: boolean
  /**
   * Told when everything is durable, with the faults of each set by its number. Until this has resolved, or a poll is given
   * the new cursor, the same news come again: after a death, too.
   */
  acknowledge(faults: ReadonlyMap<number, readonly PolledDocumentFault[]>): Promise<void>
}

/** Something to read JSON with that refuses what cannot be carried on. */
export type JsonReader = (bytes: Uint8Array) => unknown | Refusal

export interface PolledSource {
  /** Items since the cursor. Refuses `unavailable` where the next poll may succeed. Ends with the signal. */
  poll(cursor: string | undefined, signal: AbortSignal): Promise<PollResult | Refusal>
}

// A source of items that is asked for news at times: what every adapter of one promises.
import type { Refused } from './errors.ts'

/**
 * What belongs together, as a file or an answer. `known`: what it is known as, the same each time that the same comes again.
 * A document that could not be read is the refusal that says why. `is_whole`: all of it is taken or nothing; else what is no
 * signal is left out and the rest is taken.
 */
export type PolledSet = {
  readonly known: string
  readonly documents: readonly (unknown | Refused)[]
  readonly is_whole: boolean
}

/** `at`: the number of the document in its set, from 0. */
export type Fault = { readonly at: number; readonly detail: string }

export type News = {
  readonly sets: readonly PolledSet[]
  /** Where to go on once all of it is durable; opaque, at most 4,096 characters. */
  readonly cursor: string | undefined
  /** Whether there is more to be had at once. */
  readonly has_more: boolean
  /**
   * Told when everything is durable, with the faults of each set by its number. Until this has resolved, or a poll is given
   * the new cursor, the same news come again: after a death, too.
   */
  settle(faults: ReadonlyMap<number, readonly Fault[]>): Promise<void>
}

/** Something to read JSON with that refuses what cannot be carried on. */
export type ReadJson = (bytes: Uint8Array) => unknown | Refused

export interface PolledSource {
  /** What is new since the cursor. Refuses `unavailable` for what may be better next time. Ends with the signal. */
  poll(cursor: string | undefined, signal: AbortSignal): Promise<News | Refused>
}

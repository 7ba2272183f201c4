// Parts of the guidance layer that observe: the queue, the graphs of this process, and the file of what could not be stored.
import type { Call } from '../../../../kernel/operation/call.ts'
import { part } from '../../../../kernel/role/part.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Trace } from '../../../../kernel/telemetry/trace.ts'
import type { GraphBook } from '../graph/graph-book.ts'
import type { StoredObservation } from './model.ts'
import type { ObservationQueue } from './queue.ts'

/** Appends lines durably to the file of the profile; undefined: the profile names none. */
export type DeadLetters = {
  /** False: the file is full, and nothing was appended. */
  append(lines: readonly string[]): Promise<boolean>
}

/** Work on the graphs besides batches, such as a rollback: done by the worker in its turn. Must not throw. */
export type GraphTask = (call: Call) => Promise<void>

export type ObserverParts = {
  /** Of this process: its name at the head of the graphs. */
  readonly attempt: string
  readonly tasks: GraphTask[]
  readonly queue: ObservationQueue
  readonly book: GraphBook
  readonly deadLetters: DeadLetters | undefined
  /** Subjects of tokens that act for others. */
  readonly principals: ReadonlySet<string>
  /** Counts events of one millisecond, so that no two of this process have the same time. */
  readonly instants: { at: number; count: number; second: number; text: string }
  /** Traces of requests whose first event was observed. */
  readonly seenTraces: WeakSet<Trace>
  /** Observations that were stored by this process, and those that were repeats. */
  readonly stored: {
    observations: number
    repeats: number
    invalid: number
    failed: number
    /** Time that the last batch took. */
    last_batch_ms: number
  }
  /** Intervals of the maintenance that are done. */
  readonly done: { snapshot_slot: number; maintenance_round: number }
}
export const observerPart = part<ObserverParts>('guide-observer')

/** Learns from observations once they are stored; must neither throw nor wait for anything outside this process. */
export type ObservationLearner = { onStored(batch: readonly Doc<StoredObservation>[]): void }
export const learnerPart = part<{ learner: ObservationLearner | undefined }>('guide-learner')

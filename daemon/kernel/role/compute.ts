// Long computations: in a thread of their own, or of a thread that keeps data and shares its time among callers.

import type { WorkOwner } from './fair-turns.ts'

export type ComputeJob = {
  /** Input of the job; copied to the thread. */
  readonly input: unknown
  readonly timeout_ms: number
  readonly max_memory_bytes: number
  readonly signal: AbortSignal
  readonly report: (progress: unknown) => void
}

export interface Compute {
  /**
   * Resolves with the answer after the work has ended. Rejects after the work has ended as well: with
   * `Refusal('too_large')` at its limits of time and memory, with the reason of the signal, or with the error of the work.
   */
  run(job: ComputeJob): Promise<unknown>
}

/** A computation of one principal in a thread that keeps data between computations. */
export type ResidentJob = {
  readonly owner: WorkOwner
  /** Copied to the thread. */
  readonly input: unknown
  /** Computing time after which the work ends; waiting does not count. */
  readonly max_compute_ms: number
  readonly signal: AbortSignal
  /** Answers a query of the work; what it throws ends the work. */
  readonly onQuery: (query: unknown) => Promise<unknown>
}

/** What the work of a resident thread may do besides computing. */
export type ResidentContext = {
  /**
   * Lets other work of the thread continue. Throws once this work is cancelled or has used up its computing time. Call it
   * at least after each thousand comparisons.
   */
  pause(): Promise<void>
  query(query: unknown): Promise<unknown>
}

export interface ResidentCompute {
  /**
   * Resolves with the answer of the work. Owners have turns; an owner with too much work waiting is refused
   * `unavailable` with a time to retry. Rejects with `Refusal('too_large')` beyond the computing time, with the reason of the
   * signal, or with the error of the work.
   */
  run(job: ResidentJob): Promise<unknown>
  /** Changes whenever the thread was lost, with all the data that it kept. */
  readonly generation: number
  close(): Promise<void>
}

// Long computations: run in a thread, with progress reports, and aborted by a signal.

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
   * `Refusal('timeout')` or `Refusal('too_large')` at its limits, with the reason of the signal, or with the error of
   * the work.
   */
  run(job: ComputeJob): Promise<unknown>
}

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
   * Resolves with the answer once nothing of the work is left. Rejects likewise: with `Refusal('timeout')` and
   * `Refusal('too_large')` at its limits, with the signal's reason, and with what the work itself failed with.
   */
  run(job: ComputeJob): Promise<unknown>
}

// Work that would hold up everything else: done beside it, told of while it goes on, and ended when it is wanted no more.

export type Job = {
  /** What the work is about; it is copied over. */
  readonly input: unknown
  readonly time_ms: number
  readonly memory_bytes: number
  readonly signal: AbortSignal
  readonly tell: (progress: unknown) => void
}

export interface Compute {
  /**
   * Resolves with the answer once nothing of the work is left. Rejects likewise: with `Refused('timeout')` and
   * `Refused('too_large')` at its limits, with the signal's reason, and with what the work itself failed with.
   */
  run(job: Job): Promise<unknown>
}

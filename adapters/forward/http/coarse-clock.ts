// Time in coarse steps: one timer for all deadlines, since a timer for each request would cost more than the request.

export type CoarseClock = {
  /** Milliseconds that never go back; only differences mean something. */
  now(): number
  /** Calls the function after each step; returns a function that stops it. */
  onTick(run: () => void): () => void
}

/** The clock of a thread. It does not keep the process alive. */
export function coarseClock(step_ms: number): CoarseClock & { stop(): void } {
  const runs = new Set<() => void>()
  const timer = setInterval(() => {
    for (const run of runs) run()
  }, step_ms).unref()
  return {
    now: () => performance.now(),
    onTick(run) {
      runs.add(run)
      return () => void runs.delete(run)
    },
    stop: () => clearInterval(timer),
  }
}

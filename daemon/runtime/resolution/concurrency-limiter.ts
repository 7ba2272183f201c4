// Limits how much work runs at a time; the rest waits in order of arrival.

export type ConcurrencyLimiter = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Work whose signal aborts while it waits throws the reason of the signal. */
export function limitConcurrency(max_running: number): ConcurrencyLimiter {
  let busy = 0
  const waiting: (() => void)[] = []
  return async (work, signal) => {
    if (busy >= max_running) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy++
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = waiting.shift()
      // The turn passes to the first in the queue, so that new work cannot overtake it.
      if (next) next()
      else busy--
    }
  }
}

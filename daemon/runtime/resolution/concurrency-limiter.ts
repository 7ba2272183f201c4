// Limits how much work runs at a time; the rest waits in order of arrival.

export type ConcurrencyLimiter = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Work whose signal aborts while it waits throws the reason of the signal. */
export function limitConcurrency(max_running: number): ConcurrencyLimiter {
  let running_count = 0
  const queue: (() => void)[] = []
  return async (work, signal) => {
    if (running_count >= max_running) await new Promise<void>((resolve) => queue.push(resolve))
    else running_count++
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = queue.shift()
      // The turn passes to the first in the queue, so that new work cannot overtake it.
      if (next) next()
      else running_count--
    }
  }
}

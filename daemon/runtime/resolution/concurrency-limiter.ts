// Lets so many at a time, the others in the order in which they came.

export type ConcurrencyLimiter = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Who waits and is wanted no more is let go with the signal's reason. */
export function limitConcurrency(most: number): ConcurrencyLimiter {
  let busy = 0
  const waiting: (() => void)[] = []
  return async (work, signal) => {
    if (busy >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy++
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = waiting.shift()
      // The turn goes on to who waits: nobody who comes now is before him.
      if (next) next()
      else busy--
    }
  }
}

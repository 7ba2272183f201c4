// The machine's clocks, for whoever is given time rather than taking it.

export type Clock = {
  /** Epoch milliseconds; may jump when the machine's time is set. */
  now(): number
  /** Milliseconds since the process began; never goes back. */
  monotonic(): number
}

export function systemClock(): Clock {
  return { now: () => Date.now(), monotonic: () => performance.now() }
}

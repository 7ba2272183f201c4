// The machine's clocks, for code to which time is injected.

export type SystemClock = {
  /** Epoch milliseconds; may jump when the machine's time is set. */
  now(): number
  /** Milliseconds since the process began; never goes back. */
  monotonic(): number
}

export function systemClock(): SystemClock {
  return { now: () => Date.now(), monotonic: () => performance.now() }
}

// A clock that a test moves by hand, so that deadlines pass without waiting for them.
import type { SystemClock } from '../../../adapters/host/clock/system-clock.ts'

export type SimulatedClock = SystemClock & {
  /** Moves the time of day forward. Durations are measured by the machine's own clock. */
  advance(ms: number): void
  /** RFC 3339, this many milliseconds from now. */
  in(ms: number): string
}

export const noon = Date.parse('2026-03-02T12:00:00Z')

export function simulatedClock(start_ms = noon): SimulatedClock {
  let now_ms = start_ms
  return {
    now: () => now_ms,
    monotonic: () => performance.now(),
    advance(ms) {
      now_ms += ms
    },
    in: (ms) => new Date(now_ms + ms).toISOString(),
  }
}

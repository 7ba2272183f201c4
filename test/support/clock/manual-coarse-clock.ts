// A coarse clock that a test moves by hand, so that time limits pass without waiting for them.
import type { CoarseClock } from '../../../adapters/forward/http/coarse-clock.ts'

export type ManualCoarseClock = CoarseClock & {
  /** Moves time forward and makes one step. */
  advance(ms: number): void
}

export function manualCoarseClock(): ManualCoarseClock {
  const runs = new Set<() => void>()
  let now_ms = 0
  return {
    now: () => now_ms,
    onTick(run) {
      runs.add(run)
      return () => void runs.delete(run)
    },
    advance(ms) {
      now_ms += ms
      for (const run of [...runs]) run()
    },
  }
}

// Time of a test that jumps to the next timer once all work has come to rest, so that hours pass in an instant.

export type SimulatedTime = {
  now(): number
  /** Calls `act` at a time from now; the answer removes the timer. */
  after(ms: number, act: () => void): () => void
  /** Counts work whose end time waits for. */
  track<T>(work: Promise<T>): Promise<T>
  /** Resolves when so much time has gone by. */
  pass(ms: number): Promise<void>
}

type Timer = { readonly at_ms: number; readonly order: number; readonly act: () => void }

export function simulatedTime(start_ms: number): SimulatedTime {
  let [now_ms, order, pending] = [start_ms, 0, 0]
  const timers = new Set<Timer>()
  const rest = async () => {
    // Continuations of finished work run between turns of the event loop.
    for (let quiet_turns = 0; quiet_turns < 3; quiet_turns++) {
      await new Promise((resolve) => void setImmediate(resolve))
      if (pending > 0) quiet_turns = -1
    }
  }
  return {
    now: () => now_ms,
    after(ms, act) {
      const timer = { at_ms: now_ms + ms, order: order++, act }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async track(work) {
      pending += 1
      try {
        return await work
      } finally {
        pending -= 1
      }
    },
    async pass(ms) {
      const end_ms = now_ms + ms
      for (;;) {
        await rest()
        const next = [...timers].sort((a, b) => a.at_ms - b.at_ms || a.order - b.order)[0]
        if (!next || next.at_ms > end_ms) break
        timers.delete(next)
        now_ms = Math.max(now_ms, next.at_ms)
        next.act()
      }
      now_ms = end_ms
      await rest()
    },
  }
}

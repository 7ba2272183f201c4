// Notifies listeners in this process of changes; a reader still polls from time to time.

export type AnnouncementBus = {
  announce(topic: string): void
  /** Yields at once, after each announcement, and at least this often; ends when the signal aborts. */
  changes(topic: string, signal: AbortSignal, at_least_every_ms: number): AsyncIterable<void>
}

export function announcementBus(): AnnouncementBus {
  const listeners = new Map<string, Set<() => void>>()
  return {
    announce(topic) {
      for (const wake of listeners.get(topic) ?? []) wake()
    },
    async *changes(topic, signal, at_least_every_ms) {
      let pending = true
      let wake: () => void = () => undefined
      const listener = () => {
        pending = true
        wake()
      }
      const topicListeners = listeners.get(topic) ?? new Set()
      listeners.set(topic, topicListeners.add(listener))
      signal.addEventListener('abort', listener)
      try {
        while (!signal.aborted) {
          if (!pending) await waitUntilWoken(at_least_every_ms, (resolve) => (wake = resolve))
          pending = false
          if (!signal.aborted) yield
        }
      } finally {
        signal.removeEventListener('abort', listener)
        topicListeners.delete(listener)
        if (topicListeners.size === 0) listeners.delete(topic)
      }
    },
  }
}

function waitUntilWoken(limit_ms: number, register: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limit_ms)
    register(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

// Waits for something that happens to many at once: each ends with the next wake, or with its own signal.

export class Waits {
  readonly #waiting = new Set<() => void>()

  async wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    this.#waiting.add(wake)
    signal.addEventListener('abort', wake)
    await promise
    this.#waiting.delete(wake)
    signal.removeEventListener('abort', wake)
  }

  wake(): void {
    for (const wake of this.#waiting) wake()
  }
}

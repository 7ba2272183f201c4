// Shares the event loop: reads of SQLite are synchronous, so a caller with many of them would hold up every other.

/** Time that reads may take of one turn of the event loop. */
const share_ms = 8

/** Measures how long the current turn of the event loop has been reading. */
export class LoopShare {
  readonly #now_ms: () => number
  #began_ms: number | undefined

  constructor(now_ms = () => performance.now()) {
    this.#now_ms = now_ms
  }

  /** Waits for another turn if this one has read for long enough; reads that wait together share the next. */
  async wait(): Promise<void> {
    while (this.isUsedUp()) await waitForImmediates()
  }

  /** Continues in another turn, however little of this one has been read: the first immediates still belong to this turn. */
  async leave(): Promise<void> {
    await waitForImmediates()
    await waitForImmediates()
  }

  isUsedUp(): boolean {
    const now_ms = this.#now_ms()
    if (this.#began_ms === undefined) {
      this.#began_ms = now_ms
      setImmediate(() => {
        this.#began_ms = undefined
      })
    }
    return now_ms - this.#began_ms > share_ms
  }
}

function waitForImmediates(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

// What ends the reading of messages: their count, their bytes, a pause, or the time since its beginning.

export type EndOfReading = 'messages' | 'bytes' | 'idle' | 'time'

export type ReadingLimits = {
  readonly max_messages: number
  readonly max_bytes: number
  readonly idle_ms: number
  readonly max_ms: number
}

export class ReadingEnd {
  readonly #limits: ReadingLimits
  readonly #end = Promise.withResolvers<EndOfReading>()
  #messages = 0
  #bytes = 0
  #pause: NodeJS.Timeout | undefined
  #whole: NodeJS.Timeout | undefined
  isReached = false

  constructor(limits: ReadingLimits) {
    this.#limits = limits
  }

  get reached(): Promise<EndOfReading> {
    return this.#end.promise
  }

  /** Messages may come from now on. */
  begin(): void {
    const { idle_ms, max_ms } = this.#limits
    this.#pause ??= setTimeout(() => this.#reach('idle'), idle_ms)
    this.#whole ??= setTimeout(() => this.#reach('time'), max_ms)
  }

  /** Counts a message. */
  count(bytes: number): void {
    const { max_messages, max_bytes } = this.#limits
    this.#messages++
    this.#bytes += bytes
    this.#pause?.refresh()
    if (this.#messages >= max_messages) this.#reach('messages')
    else if (this.#bytes >= max_bytes) this.#reach('bytes')
  }

  #reach(end: EndOfReading): void {
    this.isReached = true
    this.stop()
    this.#end.resolve(end)
  }

  stop(): void {
    clearTimeout(this.#pause)
    clearTimeout(this.#whole)
  }
}

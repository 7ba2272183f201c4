// Replaces the connection to a server that accepts requests without responding: the client alone would wait for ever.

/** The part of a client that a connection uses: a client that reconnects by itself when its connection breaks. */
export type ReconnectingClient = {
  readonly isOpen: boolean
  readonly isReady: boolean
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', heard: (error: unknown) => void): unknown
  on(event: 'connect' | 'ready', heard: () => void): unknown
}

export type RedisConnectionOptions<C extends ReconnectingClient> = {
  readonly make: () => C
  /** For an answer. */
  readonly response_timeout_ms: number
  /** From a connection to its first sound answers: TLS, password, database. */
  readonly handshake_timeout_ms: number
  /** The part of an error that may be reported. */
  readonly describeError: (error: unknown) => string
  readonly onStateChange: (state: 'lost' | 'back', detail: string) => void
}

export class RedisConnection<C extends ReconnectingClient> {
  readonly #options: RedisConnectionOptions<C>
  #client: C
  #handshake_timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** Why there is no connection. */
  fault: string | undefined = 'not connected yet'

  constructor(options: RedisConnectionOptions<C>) {
    this.#options = options
    this.#client = this.#connect()
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  /** Rejects as the client does, and after the response timeout; the other pending requests then fail too. */
  async request<T>(question: (client: C) => Promise<T>): Promise<T> {
    const client = this.#client
    let late: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        reject(new ResponseTimeoutError())
        this.#reconnect(client)
      }, this.#options.response_timeout_ms)
    })
    try {
      return await Promise.race([question(client), silence])
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#handshake_timer)
    this.#client.destroy()
  }

  #connect(): C {
    const { make, handshake_timeout_ms, describeError } = this.#options
    const client = make()
    const ifCurrent = (then: () => void) => () => {
      if (client === this.#client && !this.#isClosed) then()
    }
    const greet = ifCurrent(() => {
      clearTimeout(this.#handshake_timer)
      this.#handshake_timer = setTimeout(() => this.#reconnect(client), handshake_timeout_ms).unref()
    })
    client.on('connect', greet)
    client.on('error', (error) => ifCurrent(() => this.#reportLost(describeError(error)))())
    client.on(
      'ready',
      ifCurrent(() => this.#reportBack()),
    )
    void client.connect().catch(() => undefined)
    return client
  }

  #reconnect(silent: C): void {
    if (silent !== this.#client || this.#isClosed) return
    this.#reportLost(no_response_reason)
    this.#client = this.#connect()
    silent.destroy()
  }

  #reportLost(detail: string): void {
    clearTimeout(this.#handshake_timer)
    if (this.fault !== detail) this.#options.onStateChange('lost', detail)
    this.fault = detail
  }

  #reportBack(): void {
    clearTimeout(this.#handshake_timer)
    if (this.fault !== undefined) this.#options.onStateChange('back', '')
    this.fault = undefined
  }
}

const no_response_reason = 'no answer in time'

class ResponseTimeoutError extends Error {
  readonly code = no_response_reason
}

// A connection to a server that is made anew when the server takes questions and says nothing: a client alone would wait for ever.

/** What a link needs of a client: one that connects again by itself when its connection breaks. */
export type Client = {
  readonly isOpen: boolean
  readonly isReady: boolean
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', heard: (error: unknown) => void): unknown
  on(event: 'connect' | 'ready', heard: () => void): unknown
}

export type LinkOptions<C extends Client> = {
  readonly make: () => C
  /** For an answer. */
  readonly answer_ms: number
  /** From a connection to its first sound answers: TLS, password, database. */
  readonly greeting_ms: number
  /** What may be said of an error. */
  readonly reasonOf: (error: unknown) => string
  readonly told: (state: 'lost' | 'back', detail: string) => void
}

export class Link<C extends Client> {
  readonly #given: LinkOptions<C>
  #client: C
  #greeting: NodeJS.Timeout | undefined
  #isClosed = false
  /** Why there is no connection. */
  trouble: string | undefined = 'not connected yet'

  constructor(given: LinkOptions<C>) {
    this.#given = given
    this.#client = this.#connected()
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  /** Rejects as the client does, and when no answer comes in time; then all other questions fail with it. */
  async ask<T>(question: (client: C) => Promise<T>): Promise<T> {
    const client = this.#client
    let late: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        reject(new Silence())
        this.#renew(client)
      }, this.#given.answer_ms)
    })
    try {
      return await Promise.race([question(client), silence])
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#greeting)
    this.#client.destroy()
  }

  #connected(): C {
    const { make, greeting_ms, reasonOf } = this.#given
    const client = make()
    const ifCurrent = (then: () => void) => () => {
      if (client === this.#client && !this.#isClosed) then()
    }
    const greet = ifCurrent(() => {
      clearTimeout(this.#greeting)
      this.#greeting = setTimeout(() => this.#renew(client), greeting_ms).unref()
    })
    client.on('connect', greet)
    client.on('error', (error) => ifCurrent(() => this.#lost(reasonOf(error)))())
    client.on(
      'ready',
      ifCurrent(() => this.#back()),
    )
    void client.connect().catch(() => undefined)
    return client
  }

  #renew(silent: C): void {
    if (silent !== this.#client || this.#isClosed) return
    this.#lost(reasonOfSilence)
    this.#client = this.#connected()
    silent.destroy()
  }

  #lost(detail: string): void {
    clearTimeout(this.#greeting)
    if (this.trouble !== detail) this.#given.told('lost', detail)
    this.trouble = detail
  }

  #back(): void {
    clearTimeout(this.#greeting)
    if (this.trouble !== undefined) this.#given.told('back', '')
    this.trouble = undefined
  }
}

const reasonOfSilence = 'no answer in time'

class Silence extends Error {
  readonly code = reasonOfSilence
}

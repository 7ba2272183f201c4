// Hands an upstream's answer to the client as it comes: small ones in one write, others at the client's own speed.
import type { Exchange } from './exchange.ts'
import type { Failure, Flight, Sink } from './sink.ts'

/** Up to this many bytes of body wait for the end of what one read brought, to go with the head. */
const held_bytes = 16_384

export type Relay = {
  readonly exchange: Exchange
  /** The fields of the upstream as the client may see them, without those that frame. */
  readonly headers: (status: number, rawHeaders: string[]) => string[]
  /** All of the answer was given to the client. */
  readonly onEnd: (status: number) => void
  /** The upstream failed. `hasBegun`: the client saw a part, and is cut off; otherwise it is still to be answered. */
  readonly onFail: (failure: Failure, detail: string, hasBegun: boolean) => void
}

export class RelaySink implements Sink {
  readonly #relay: Relay
  #status = 0
  #headers: string[] = []
  #length: number | undefined
  #hasBegun = false
  #held = ''
  #flight: Flight | undefined

  constructor(relay: Relay) {
    this.#relay = relay
  }

  /** After `forward`: the client's speed and its end reach the upstream. */
  follow(flight: Flight): void {
    this.#flight = flight
    this.#relay.exchange.onGone = () => flight.abort()
    this.#relay.exchange.onDrain = () => this.#flight?.resume()
  }

  head(status: number, rawHeaders: string[], length: number | undefined): void {
    this.#status = status
    this.#headers = this.#relay.headers(status, rawHeaders)
    this.#length = length
  }

  data(bytes: Buffer): boolean {
    if (!this.#hasBegun && this.#held.length + bytes.length <= held_bytes) {
      this.#held += bytes.toString('latin1')
      return true
    }
    this.flush()
    // The reader's bytes are gone after this call.
    return this.#relay.exchange.write(Buffer.from(bytes))
  }

  flush(): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#relay.exchange.begin(this.#status, this.#headers, this.#length)
    }
    const held = this.#held
    this.#held = ''
    if (held !== '') this.#relay.exchange.write(held)
  }

  end(): void {
    const { exchange, onEnd } = this.#relay
    if (exchange.method === 'HEAD') this.flush()
    if (this.#hasBegun) exchange.end(this.#held)
    else exchange.replyText(this.#status, this.#headers, this.#held)
    onEnd(this.#status)
  }

  fail(failure: Failure, detail: string): void {
    const { exchange, onFail } = this.#relay
    onFail(failure, detail, this.#hasBegun)
    if (this.#hasBegun) exchange.cut()
  }
}

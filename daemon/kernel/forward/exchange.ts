// The contract of a public request and its response, between the listener that reads bytes and the role that decides.
import type { PresentedCertificate, PresentedCredential } from '../identity/identity.ts'

/** How a request frames its body: the number of bytes, `chunked`, or 0 for no body. */
export type BodyFraming = number | 'chunked'

/**
 * A request that the HTTP parser accepts and that must still not be served, because another server could read it
 * differently. Its response ends the connection. With `unknown_expectation` all else is valid.
 */
export type RequestFault = {
  readonly status: 400 | 417 | 431 | 501 | 505
  readonly reason:
    | 'bad_version'
    | 'bad_host'
    | 'bad_framing'
    | 'too_many_fields'
    | 'bad_name'
    | 'unknown_coding'
    | 'unknown_expectation'
    | 'tunnel'
    | 'unknown_method'
    | 'bad_target'
}

/**
 * Why a body did not arrive. `too_large`: more bytes than the limit. `too_slow`: too few bytes a second. `malformed`: broken
 * framing. `gone`: the client closed the connection.
 */
export type BodyFailure = 'too_large' | 'too_slow' | 'malformed' | 'gone'
export type BodyResult = Buffer | BodyFailure

/**
 * Receives the body of a request as it arrives: any number of `data`, then `end` or `fail` as the last call. After a switch of
 * protocols these are the bytes of the client, up to the end of its side.
 */
export type BodySink = {
  /** Takes ownership of the bytes. False stops the reading until `resumeBody`. */
  data(bytes: Buffer): boolean
  end(): void
  fail(failure: BodyFailure): void
}

/** The one protocol that a connection may switch to. Others (`h2c`) would carry requests past the checks of the listener. */
export type UpgradeProtocol = 'websocket'

/**
 * Receives the events of a response that is being written. It is an object rather than a closure per request: V8
 * allocates a closure assigned to a property in the old space, and retains its captured values until the next full
 * collection.
 */
export type ResponseProducer = {
  /** Called once, when the client disconnects before the socket has taken the whole response. */
  gone(): void
  /** `write` returned false, and more may be written now. */
  drained(): void
}

/**
 * One public request and its response. No method throws after the client has disconnected: nothing is written then,
 * and `answering` was notified.
 */
export interface Exchange {
  readonly method: string
  /** The target of the request line, with nothing decoded. */
  readonly target: string
  /** Alternating names and values, as the client wrote them. */
  readonly rawHeaders: readonly string[]
  /** Remote address of the connection; empty when the connection is closed already. */
  readonly peer: string
  /** Of the client, from TLS alone. A listener that requests none has none. */
  readonly certificate: PresentedCertificate | undefined
  /** Why the request may not be served: the response has the fault's status, and the request is counted like any other. */
  readonly fault: RequestFault | undefined
  /** The announced body. */
  readonly framing: BodyFraming
  /** The protocol that the client requests to switch to, if the listener offers it. */
  readonly upgrade: UpgradeProtocol | undefined
  answering: ResponseProducer | undefined
  /** The socket has taken the whole response, or never will. */
  readonly isOver: boolean
  /**
   * Reads the body; sends `100 Continue` first to a client that waits for it. `done` is called once, and synchronously where
   * the result is known by then. After any failure the response ends the connection.
   */
  readBody(max_bytes: number, done: (body: BodyResult) => void): void
  /**
   * Passes the body on as it arrives, with the same conditions as `readBody`. A response may begin and end before the body
   * has: the sink receives nothing after the end of the response, and the connection ends with it.
   */
  streamBody(max_bytes: number, sink: BodySink): void
  /** Continues after `data` of the sink returned false. */
  resumeBody(): void
  /** Sends a whole response and sets its length. For HEAD the body is that of GET, and is not sent. */
  reply(status: number, headers: readonly string[], body?: Buffer): void
  /** Like `reply`, with the bytes of the body as one character each; it may go out at the end of this turn of the event loop. */
  replyText(status: number, headers: readonly string[], bytes: string): void
  /**
   * Begins a response that streams. The head goes out with the bytes written in this tick, or alone. `length`: bytes of the
   * body where they are known, also for HEAD.
   */
  begin(status: number, headers: readonly string[], length: number | undefined): void
  /**
   * Accepts `upgrade` with status 101. From here on `write`, `end` and `streamBody` carry the bytes of the protocol. `end` ends
   * one direction only; the exchange is over when both have ended.
   */
  switchProtocols(headers: readonly string[]): void
  /** The bytes may be overwritten after the call. False: the client reads slowly, and `answering.drained` follows. */
  write(bytes: Buffer | string): boolean
  end(bytes?: Buffer | string): void
  /** Closes the connection, so that the client sees that the response is incomplete. */
  cut(): void
}

/** Receives a request with what its caller presents, and must answer it. Must not throw. */
export type ExchangeHandler = (exchange: Exchange, presented: PresentedCredential) => void

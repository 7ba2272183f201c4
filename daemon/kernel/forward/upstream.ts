// The contract of a client for an upstream: the request it takes, and the sink that receives the response.
import type { UpgradeProtocol } from './exchange.ts'

export type UpstreamRequest = {
  /** In capitals; any but CONNECT and TRACE. */
  readonly method: string
  /** Path and query as they are written on the request line: printable ASCII without a fragment. */
  readonly path: string
  /**
   * Alternating names and values, one character a byte, `host` included; no `connection`, `upgrade`, `content-length` or `transfer-encoding`.
   */
  readonly headers: readonly string[]
  /** Absent: no body. The client does not keep a buffer after the call. */
  readonly body?: Buffer | StreamedBody | undefined
  /**
   * Requests a switch of protocols; `body` is then streamed and holds the bytes after the switch. The sink receives status 101,
   * and then the bytes of the upstream up to the end of its side; or any other response.
   */
  readonly upgrade?: UpgradeProtocol | undefined
  /** Absent: the limits of the upstream. */
  readonly limits?: ForwardLimits | undefined
}

/** A body that is sent as it arrives, with `write` and `end` of the active request. */
export type StreamedBody = {
  /** Bytes where they are known; undefined: sent in chunks. */
  readonly length: number | undefined
  /** The bytes may be written now: a connection was established, or the protocol was switched. Called once at most. */
  ready(): void
  /** `write` returned false, and more may be written now. */
  drained(): void
}

export type ForwardLimits = {
  /** Longest time in which neither the body nor the response advances, although its reader is ready. */
  readonly idle_ms: number
  /** From the call until the response is complete. Undefined: as long as it advances, as for streams of events. */
  readonly total_ms: number | undefined
}

/**
 * Why no response, or only a part of it, arrived. `address`: the upstream's name has an address that may not be dialled.
 * `connect`: no connection was established. `busy`: all connections are in use and the queue is full. `timeout`: the
 * upstream was too slow. `closed`: the upstream closed the connection. `protocol`: the response is not valid HTTP.
 * `no_member`: every member of the pool is down by its probes. `request`: nothing was sent, since the request has a method, path
 * or header that servers could read differently.
 */
export type UpstreamFailure =
  | 'address'
  | 'connect'
  | 'busy'
  | 'timeout'
  | 'closed'
  | 'protocol'
  | 'no_member'
  | 'request'

/**
 * Receives one response: `head`, any number of `data`, and `end`; or `fail` at any point, as the last call. No call follows
 * an abort. Calls come in the tick in which the bytes arrived.
 */
export type ResponseSink = {
  /**
   * `rawHeaders`: alternating names and values, as the upstream wrote them, hop-by-hop fields included. `length`:
   * announced bytes of body; after HEAD and 304 those of a body that does not follow. `isFramed`: a length or chunks
   * mark the end of the body. Where the end of the connection marks it, a complete response looks the same as one
   * that a failing upstream cut short.
   */
  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void
  /** The client overwrites the bytes after the call: copy what must last. False stops the reading until `resume`. */
  data(bytes: Buffer): boolean
  /** After the calls of one read, unless the response ended with it: bytes that wait to be batched should go out now. */
  flush(): void
  /** The response is complete. After a switch of protocols: the upstream's side has ended, and `fail` may still follow. */
  end(): void
  fail(failure: UpstreamFailure, detail: string): void
}

/** A request that was sent, or waits for a connection. Its methods do nothing when the request is over. */
export type ActiveRequest = {
  /** The response is not needed any longer. */
  abort(): void
  /**
   * Sends a part of a streamed body, and takes ownership of the bytes. False: the upstream reads slowly, and `drained` of the
   * body follows.
   */
  write(bytes: Buffer): boolean
  /** Ends the streamed body. A body shorter than its length ends the connection, and the request fails. */
  end(): void
  /** Continues after `data` returned false. */
  resume(): void
}

export type Upstream = {
  /** Sends the request. The sink receives the response or the failure, never before this returns. */
  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest
  counts(): { readonly connections: number; readonly idle: number; readonly waiting: number }
  /** Ends idle connections. Active requests continue, on connections that are closed afterwards. */
  close(): void
}

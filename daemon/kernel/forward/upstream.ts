// The contract of a client for one upstream: the request it takes, and the sink that receives the response.

export type UpstreamRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** Path and query as they are written on the request line. */
  readonly path: string
  /** Alternating names and values, `host` included; no `connection`, `content-length` or `transfer-encoding`. */
  readonly headers: readonly string[]
  /** For POST. The client does not keep it after the call. */
  readonly body?: Buffer
}

/**
 * Why no response, or only a part of it, arrived. `address`: the upstream's name has an address that may not be dialled.
 * `connect`: no connection was established. `busy`: all connections are in use and the queue is full. `timeout`: the
 * upstream was too slow. `closed`: the upstream closed the connection. `protocol`: the response is not valid HTTP.
 */
export type UpstreamFailure = 'address' | 'connect' | 'busy' | 'timeout' | 'closed' | 'protocol'

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
  end(): void
  fail(failure: UpstreamFailure, detail: string): void
}

/** A request that was sent, or waits for a connection. */
export type ActiveRequest = {
  /** The response is not needed any longer. */
  abort(): void
  /** Continues after `data` returned false. */
  resume(): void
}

export type Upstream = {
  /**
   * Sends the request. The sink receives the response or the failure, never before this returns.
   * @throws Error where path or headers hold bytes that would split the request.
   */
  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest
  counts(): { readonly connections: number; readonly idle: number; readonly waiting: number }
  /** Ends idle connections. Active requests continue, on connections that are closed afterwards. */
  close(): void
}

// What an upstream client is asked for, and where its answer goes.

export type UpstreamRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** Path and query as they go on the line. */
  readonly path: string
  /** Names and values in turn, `host` among them; no `connection`, `content-length` or `transfer-encoding`. */
  readonly headers: readonly string[]
  /** For POST; it is not kept after the call. */
  readonly body?: Buffer
}

/**
 * `address`: the place has an address that may not be dialled. `connect`: no connection came about. `busy`: all connections
 * are in use and enough wait. `timeout`: it was too slow. `closed`: it broke off. `protocol`: what it said is no answer.
 */
export type Failure = 'address' | 'connect' | 'busy' | 'timeout' | 'closed' | 'protocol'

/**
 * Is told of one answer: `head`, any number of `data`, and `end`; or `fail` at any point, as the last. Nothing after an
 * abort. Calls come in the tick in which the bytes came.
 */
export type Sink = {
  /**
   * `rawHeaders`: names and values in turn, as the upstream wrote them, hop-by-hop fields included. `length`: bytes of body,
   * where it says so; after HEAD and 304 those of a body that does not come. `isFramed`: its end is told by a length or by
   * chunks. Where the end of the connection is its end, nobody can tell the whole from what a broken upstream has left.
   */
  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void
  /** The bytes are the reader's own and are gone after the call: copy what is kept. False: no more until `resume`. */
  data(bytes: Buffer): boolean
  /** After the calls that one read brought, unless the answer ended with it: what was held back for more should go now. */
  flush(): void
  end(): void
  fail(failure: Failure, detail: string): void
}

/** One request that is under way. */
export type Flight = {
  /** Nobody waits for the answer any longer. */
  abort(): void
  /** `data` answered false, and more may come now. */
  resume(): void
}

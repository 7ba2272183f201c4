// How much of time, bytes and connections either side gets; boot sets each from the settings, tests as they need.

export type InboundLimits = {
  /** Open at once; one more is closed as it comes. */
  readonly connections: number
  /** Of the request line and all fields, and how many fields. */
  readonly header_bytes: number
  readonly header_fields: number
  /** For a head, counted from the connection or from its first byte; and for all of a request. */
  readonly headers_ms: number
  readonly request_ms: number
  /** Between requests. */
  readonly idle_ms: number
  /** Bytes a second that a body must bring on the average, once `grace_ms` are over. */
  readonly body_rate: number
  readonly grace_ms: number
  /**
   * Bytes a second that a client must take of an answer that waits for it, on the average and beside those of its first
   * `answer_grace_ms`: such an answer holds its connection to the upstream.
   */
  readonly answer_rate: number
  readonly answer_grace_ms: number
  /** For a client to take anything at all of what is written to it: at most 64 KiB are written at once. */
  readonly stall_ms: number
  /** Requests that one connection may send ahead while one is being answered. */
  readonly pipelined: number
  /** How long bytes that nobody wants are still read, so that the client sees why before the connection goes. */
  readonly linger_ms: number
}

export const defaultInboundLimits: InboundLimits = {
  connections: 10_000,
  header_bytes: 16_384,
  header_fields: 100,
  headers_ms: 10_000,
  request_ms: 30_000,
  idle_ms: 65_000,
  body_rate: 500,
  grace_ms: 5_000,
  answer_rate: 8_192,
  // At that rate about 128 KiB: the kernel tells of what was taken in pieces.
  answer_grace_ms: 15_000,
  stall_ms: 60_000,
  pipelined: 16,
  linger_ms: 2_000,
}

export type UpstreamLimits = {
  /** Open at once, of one thread. */
  readonly connections: number
  /** Requests that wait for one of them, and how long. */
  readonly waiting: number
  readonly waiting_ms: number
  /** For an address, a connection and a TLS handshake, together. */
  readonly connect_ms: number
  /** From the request to the whole head of its answer, and then between bytes. */
  readonly first_byte_ms: number
  readonly idle_ms: number
  /** An idle connection is kept so long; less where the upstream says less. */
  readonly keep_ms: number
  /** Of a head, and of trailers. */
  readonly head_bytes: number
  /** Answers of 1xx before the one that counts. */
  readonly interim: number
}

export const defaultUpstreamLimits: UpstreamLimits = {
  connections: 256,
  waiting: 1_024,
  waiting_ms: 5_000,
  connect_ms: 5_000,
  first_byte_ms: 30_000,
  idle_ms: 30_000,
  // Node keeps an idle connection for 5 seconds, and others longer: by then it should not be used again.
  keep_ms: 4_000,
  head_bytes: 32_768,
  interim: 8,
}

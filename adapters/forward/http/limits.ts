// Limits on time, bytes and connections of both sides. Boot sets them from the settings.

export type InboundLimits = {
  /** Open at once; one more ends the oldest without a request, or is closed when all have one. Handshakes are apart. */
  readonly connections: number
  /** Of the request line and all fields, and how many fields. */
  readonly header_bytes: number
  readonly header_fields: number
  /** For a head, counted from the connection or from its first byte; and for all of a request, 0 for no limit. */
  readonly headers_ms: number
  readonly request_ms: number
  /** Between requests. */
  readonly idle_ms: number
  /** Minimum average rate of a request body in bytes per second, after `grace_ms`. */
  readonly body_rate: number
  readonly grace_ms: number
  /**
   * Minimum average rate in bytes per second at which a client must read a response that waits for it, not counting its
   * first `answer_grace_ms`: such a response holds its connection to the upstream.
   */
  readonly answer_rate: number
  readonly answer_grace_ms: number
  /** For a client to read any byte that is written to it: at most 64 KiB are written at once. */
  readonly stall_ms: number
  /** Requests that one connection may send ahead while one is being answered. */
  readonly pipelined: number
  /** How long surplus bytes are still read and dropped, so that the client receives its response before the close. */
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
  // At that rate about 128 KiB: the kernel reports acknowledged bytes in steps.
  answer_grace_ms: 15_000,
  stall_ms: 60_000,
  pipelined: 16,
  linger_ms: 2_000,
}

/** Limits of HTTP/2, beside those above. Bytes and number of the fields of a head are as in HTTP/1.1. */
export type Http2Limits = {
  /** Open at once on one connection. */
  readonly streams: number
  /** Streams of a connection that end before their response, in a time: one more ends the connection. */
  readonly abandoned_streams: number
  readonly abandoned_window_ms: number
  /** For the state of one connection: heads, and data that waits for its client. */
  readonly session_mib: number
}

export const defaultHttp2Limits: Http2Limits = {
  // The least that RFC 9113, section 6.5.2, recommends; nginx has 128.
  streams: 100,
  abandoned_streams: 200,
  abandoned_window_ms: 10_000,
  session_mib: 10,
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
  /** How long an idle connection is kept; less when the upstream announces less. */
  readonly keep_ms: number
  /** Of a head, and of trailers. */
  readonly head_bytes: number
  /** 1xx responses before the final one. */
  readonly interim: number
}

export const defaultUpstreamLimits: UpstreamLimits = {
  connections: 256,
  waiting: 1_024,
  waiting_ms: 5_000,
  connect_ms: 5_000,
  first_byte_ms: 30_000,
  idle_ms: 30_000,
  // Node as a server keeps an idle connection for 5 seconds, others keep it longer: it must not be reused after that.
  keep_ms: 4_000,
  head_bytes: 32_768,
  interim: 8,
}

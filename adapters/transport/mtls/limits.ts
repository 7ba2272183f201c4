// Limits of time and connections per peer. Tests may set each one.

export type MtlsLimits = {
  /** Open at once, by one peer. */
  readonly connections_per_peer: number
  /** Concurrent handshakes without a verified peer, in all and of one address. One more ends the oldest. */
  readonly handshakes: number
  readonly handshakes_per_address: number
  readonly handshake_ms: number
  readonly headers_ms: number
  /** Concurrent requests of one peer. */
  readonly requests_per_peer: number
  /** Bytes above which a request is a large one, and how many of these are read at once, of all peers. */
  readonly large_bytes: number
  readonly large_requests: number
  /** For a body, besides what its size gives it. */
  readonly body_ms: number
  readonly bytes_per_s: number
  readonly idle_ms: number
  /** For active requests when the carrier stops. */
  readonly drain_ms: number
}

export const defaultMtlsLimits: MtlsLimits = {
  connections_per_peer: 4,
  handshakes: 64,
  handshakes_per_address: 16,
  handshake_ms: 10_000,
  headers_ms: 10_000,
  // A sender that comes again while its last batch is still being written would have it written twice.
  requests_per_peer: 1,
  // A batch of usual size in base64; a large one is a single message, some five times itself in memory while it is read.
  large_bytes: 1_500_000,
  large_requests: 3,
  body_ms: 15_000,
  // A sender has this long for a batch: see `daemon/boot/links/link-pump.ts`.
  bytes_per_s: 8_192,
  idle_ms: 65_000,
  drain_ms: 10_000,
}

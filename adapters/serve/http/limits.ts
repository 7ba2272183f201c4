// Limits of one listener on time, connections and bytes. Boot and tests can set each.

export type ListenerLimits = {
  /** Concurrent requests; the next one is answered 503. Streams are counted separately. */
  readonly in_flight: number
  readonly streams: number
  /** Streams that one caller has open at once on the listener; the next one is answered 429. */
  readonly streams_per_caller: number
  /** From the whole head to the answer; streams are exempt. */
  readonly request_ms: number
  /** For a client to send its head, and then all of its request. */
  readonly headers_ms: number
  readonly receive_ms: number
  readonly idle_ms: number
  readonly header_bytes: number
  /** Largest body where the operation names none. */
  readonly body_bytes: number
  /** Declared bytes of concurrent larger bodies, in all and of one caller. The next is answered 503. */
  readonly large_bodies_bytes: number
  readonly large_bodies_bytes_per_caller: number
  /** Between the comments that keep a quiet event stream alive through proxies. */
  readonly heartbeat_ms: number
}

export const defaultListenerLimits: ListenerLimits = {
  in_flight: 1_000,
  streams: 1_000,
  streams_per_caller: 32,
  request_ms: 30_000,
  headers_ms: 10_000,
  receive_ms: 30_000,
  idle_ms: 65_000,
  header_bytes: 16_384,
  body_bytes: 1_048_576,
  // Each takes about three times its size in memory while it is read.
  large_bodies_bytes: 33_554_432,
  large_bodies_bytes_per_caller: 16_777_216,
  heartbeat_ms: 15_000,
}

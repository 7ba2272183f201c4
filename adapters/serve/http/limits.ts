// Limits of one listener on time, connections and bytes. Boot and tests can set each.
import { default_body_bytes, default_time_limit_ms } from '../../../daemon/kernel/operation/operation.ts'
import type { TransferPace } from '../../platform/http-server/transfer-pace.ts'

export type ListenerLimits = {
  /** Concurrent requests of identified callers: in all (the next is answered 503), of one caller and of one address (429). */
  readonly in_flight: number
  readonly in_flight_per_caller: number
  readonly in_flight_per_source: number
  /** The same for requests of operations with a longer time limit than the usual one, which are counted apart. */
  readonly long_requests: number
  readonly long_requests_per_caller: number
  readonly long_requests_per_source: number
  /** Requests of one address whose credential is being verified. */
  readonly admissions_per_source: number
  /** The same for callers without a valid credential; those that send a body are counted apart. */
  readonly unidentified: number
  readonly unidentified_per_source: number
  /** Connections on which no caller was identified yet; one more ends the oldest. */
  readonly pending_connections: number
  readonly pending_connections_per_address: number
  readonly streams: number
  /** Streams that one caller has open at once on the listener; the next one is answered 429. */
  readonly streams_per_caller: number
  readonly streams_per_source: number
  /** From the whole head to the answer, where the operation declares no other; streams are exempt. */
  readonly request_ms: number
  /** For a client to send its head, and then all of its request. */
  readonly headers_ms: number
  readonly receive_ms: number
  readonly idle_ms: number
  readonly header_bytes: number
  /** Largest body where the operation names none. */
  readonly body_bytes: number
  /** The slowest body, and the slowest reader of an answer. */
  readonly body_pace: TransferPace
  readonly answer_pace: TransferPace
  /** Declared bytes of concurrent larger bodies, in all and of one caller. The next is answered 503. */
  readonly large_bodies_bytes: number
  readonly large_bodies_bytes_per_caller: number
  /** Bytes of large answers that clients have not read yet, of all listeners of the process (503) and of one caller (429). */
  readonly unread_bytes: number
  readonly unread_bytes_per_caller: number
  /** Between the comments that keep a quiet event stream alive through proxies. */
  readonly heartbeat_ms: number
}

export const defaultListenerLimits: ListenerLimits = {
  in_flight: 1_000,
  in_flight_per_caller: 250,
  in_flight_per_source: 500,
  // One lasts up to twenty times as long: together they hold no more of the process than the others.
  long_requests: 64,
  long_requests_per_caller: 8,
  long_requests_per_source: 32,
  admissions_per_source: 250,
  unidentified: 128,
  unidentified_per_source: 32,
  pending_connections: 1_024,
  pending_connections_per_address: 256,
  streams: 1_000,
  streams_per_caller: 32,
  streams_per_source: 500,
  request_ms: default_time_limit_ms,
  headers_ms: 10_000,
  receive_ms: 30_000,
  idle_ms: 65_000,
  header_bytes: 16_384,
  body_bytes: default_body_bytes,
  body_pace: { grace_ms: 5_000, bytes_per_s: 500 },
  // The kernel reports acknowledged bytes in steps, of about 128 KiB at this rate.
  answer_pace: { grace_ms: 15_000, bytes_per_s: 8_192 },
  // Each takes about three times its size in memory while it is read.
  large_bodies_bytes: 33_554_432,
  large_bodies_bytes_per_caller: 16_777_216,
  unread_bytes: 67_108_864,
  unread_bytes_per_caller: 16_777_216,
  heartbeat_ms: 15_000,
}

/** The clients of a socket file are the site's own processes, which wait for one another. */
export const localSocketLimits: Partial<ListenerLimits> = {
  in_flight_per_caller: Infinity,
  long_requests_per_caller: Infinity,
  large_bodies_bytes: Infinity,
  large_bodies_bytes_per_caller: Infinity,
}

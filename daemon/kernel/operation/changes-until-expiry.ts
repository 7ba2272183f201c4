// Changes of a topic for an event stream, until the caller's token expires.
import type { Call } from './call.ts'

export function isTokenExpired(call: Call): boolean {
  return call.now() >= expiryOf(call)
}

/** Yields at each announcement on the topic, and at least every `interval_ms`; ends with the call or the caller's token. */
export async function* changesUntilExpiry(call: Call, topic: string, interval_ms: number): AsyncIterable<void> {
  const pause_ms = Math.max(1, Math.min(interval_ms, expiryOf(call) - call.now()))
  for await (const _ of call.changes(topic, call.signal, pause_ms)) {
    if (isTokenExpired(call)) return
    yield
  }
}

function expiryOf(call: Call): number {
  return call.caller.expires_ts ?? Number.POSITIVE_INFINITY
}

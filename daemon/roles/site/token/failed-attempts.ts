// Limits failed attempts to authenticate as a client, so that guessing a secret is slow.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'

/** `max_failures` in a window that begins with the first of them. */
type AttemptLimit = { readonly max_failures: number; readonly window_ms: number }

/** Leaves room for a person who corrects a configuration; a guesser can try 20 secrets per minute and client. */
const client_limit: AttemptLimit = { max_failures: 20, window_ms: 60_000 }
/** Limit over all client names. */
const site_limit: AttemptLimit = { max_failures: 200, window_ms: 20_000 }

/**
 * Number of counters that client names are spread over: memory stays bounded for any names, and unknown names are
 * counted like known ones, so that a caller cannot probe for clients.
 */
const bucket_count = 4_096

/** Waits are whole seconds, 0 for none. Both throw `Refusal('unavailable')` where the count cannot be known. */
export type FailedAttempts = {
  /** How long attempts as this client are refused, even with the right secret. */
  wait_s(client_id: string): Promise<number>
  /**
   * Records a failure and returns how long its sender is to wait. Failures under many names delay only senders that
   * fail: a flood does not lock out a client that it does not name.
   */
  recordFailure(client_id: string | undefined): Promise<number>
}

export function failedAttempts(counters: KeyValue): FailedAttempts {
  const counted = (place: string, by: number, { window_ms }: AttemptLimit) =>
    counters.increment(`attempts/${place}`, by, window_ms)
  return {
    wait_s: async (client_id) =>
      waitOf(await counted(bucketOf(client_id), 0, client_limit), client_limit.max_failures - 1),
    async recordFailure(client_id) {
      const all = counted('all', 1, site_limit)
      if (client_id !== undefined) await counted(bucketOf(client_id), 1, client_limit)
      return waitOf(await all, site_limit.max_failures)
    },
  }
}

function bucketOf(client_id: string): string {
  return String(Number.parseInt(sha256(client_id).slice(0, 8), 16) % bucket_count)
}

function waitOf({ count, left_ms }: CounterValue, max_count: number): number {
  return count > max_count ? Math.ceil(left_ms / 1_000) : 0
}

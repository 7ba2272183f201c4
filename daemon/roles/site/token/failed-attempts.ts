// Failed attempts to authenticate as a client: so many in a while, then nobody tries, so that guessing is slow.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import type { CounterValue, KeyValue } from '../../../kernel/store/key-value.ts'

/** `most` failures in a window that begins with the first of them. */
type AttemptLimit = { readonly max_failures: number; readonly window_ms: number }

/** A person who mends a configuration fails a few times; a guesser is left with 20 secrets a minute for a client. */
const client_limit: AttemptLimit = { max_failures: 20, window_ms: 60_000 }
/** Under whatever name. */
const site_limit: AttemptLimit = { max_failures: 200, window_ms: 20_000 }

/**
 * Names are spread over so many places: little is held whatever names are sent, and a name that no client has is
 * treated like any other, so that nobody finds out which there are.
 */
const bucket_count = 4_096

/** Waits are whole seconds, 0 for none. Both throw `Refusal('unavailable')` where the count cannot be known. */
export type FailedAttempts = {
  /** How long nobody may try as this client, right secret or wrong. */
  wait_s(client_id: string): Promise<number>
  /**
   * Takes note of a failure; how long its sender is to wait before the next one. Failures under many names make only
   * those wait who fail: a flood does not lock out a client that it does not name.
   */
  recordFailure(client_id: string | undefined): Promise<number>
}

export function failedAttempts(shared: KeyValue): FailedAttempts {
  const counted = (place: string, by: number, { window_ms }: AttemptLimit) =>
    shared.increment(`attempts/${place}`, by, window_ms)
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

function waitOf({ count, left_ms }: CounterValue, most: number): number {
  return count > most ? Math.ceil(left_ms / 1_000) : 0
}

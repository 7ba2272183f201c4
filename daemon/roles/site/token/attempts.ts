// Failed attempts to authenticate as a client: forgiven one by one as time goes, so that guessing is slow.
import { sha256 } from '../../../kernel/canonical.ts'

/** So many failures at once, then one more each time that one is forgiven. */
type Rate = { readonly burst: number; readonly forgiven_every_ms: number }

/** A person who mends a configuration fails a few times; a guesser is left with 20 secrets a minute for a client. */
const ofClient: Rate = { burst: 20, forgiven_every_ms: 3_000 }
const ofAll: Rate = { burst: 200, forgiven_every_ms: 100 }

/**
 * Names are spread over so many places: memory stays small whatever names are sent, and a name that no client has is
 * treated like any other, so that nobody finds out which there are.
 */
const places = 4_096

/** Times are milliseconds of a clock that never jumps; waits are whole seconds, 0 for none. */
export type FailedAttempts = {
  /** How long nobody may try as this client, right secret or wrong. */
  wait_s(client_id: string, now_ms: number): number
  /**
   * Takes note of a failure; how long its sender is to wait before the next one. Failures under many names make only
   * those wait who fail: a flood does not lock out a client that it does not name.
   */
  failed(client_id: string | undefined, now_ms: number): number
}

type Debt = { readonly failures: number; readonly at_ms: number }
const none: Debt = { failures: 0, at_ms: 0 }

export function failedAttempts(): FailedAttempts {
  const debts = new Map<number, Debt>()
  let all = none
  return {
    wait_s: (client_id, now_ms) => waitOf(debts.get(placeOf(client_id)) ?? none, ofClient, now_ms),
    failed(client_id, now_ms) {
      const wait = waitOf(all, ofAll, now_ms)
      all = oneMore(all, ofAll, now_ms)
      if (client_id === undefined) return wait
      const place = placeOf(client_id)
      debts.set(place, oneMore(debts.get(place) ?? none, ofClient, now_ms))
      return wait
    },
  }
}

function placeOf(client_id: string): number {
  return Number.parseInt(sha256(client_id).slice(0, 8), 16) % places
}

function owed({ failures, at_ms }: Debt, { forgiven_every_ms }: Rate, now_ms: number): number {
  return Math.max(0, failures - (now_ms - at_ms) / forgiven_every_ms)
}

/** Never more than the burst, so that a long flood is over as soon as it ends. */
function oneMore(debt: Debt, rate: Rate, now_ms: number): Debt {
  return { failures: Math.min(rate.burst, owed(debt, rate, now_ms) + 1), at_ms: now_ms }
}

function waitOf(debt: Debt, rate: Rate, now_ms: number): number {
  const tooMany = owed(debt, rate, now_ms) - (rate.burst - 1)
  return tooMany <= 0 ? 0 : Math.ceil((tooMany * rate.forgiven_every_ms) / 1_000)
}

// The counters of a request with their limits. The keys are those of the interface.
import type { ProxyConfig } from '../config.ts'
import type { ProxyReason } from '../reasons.ts'
import type { RequestDecision } from './request-decision.ts'

/** Length of the fixed window of every counter, from its first request. */
export const window_ms = 60_000

/** A request whose position in the window is beyond `limit` is denied with `reason`. */
export type RateCounter = { readonly key: string; readonly limit: number; readonly reason: ProxyReason }

/** Counters of every request that a rule allows, in order: the first that is over its limit denies the request. */
export function listRateCounters({ source, rule }: RequestDecision, config: ProxyConfig): RateCounter[] {
  const counters: RateCounter[] = [{ key: `proxy:rl:${source.key}`, limit: config.read_limit, reason: 'rate_limited' }]
  if (rule?.limit !== undefined) {
    // A source key begins with a hexadecimal digit or `peer`, so no source has such a key.
    counters.push({ key: `proxy:rl:rule:${rule.name}:${source.key}`, limit: rule.limit, reason: 'rule_rate_limited' })
  }
  return counters
}

/** The further counter of a POST, once its announced length is within the limit. */
export function buildWriteCounter({ source }: RequestDecision, config: ProxyConfig): RateCounter {
  return { key: `proxy:rl:w:${source.key}`, limit: config.write_limit, reason: 'write_rate_limited' }
}

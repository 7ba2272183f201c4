// Which counters a request adds to, and how far each may go: the keys are those of the interface.
import type { ProxyConfig } from '../config.ts'
import type { ProxyReason } from '../reasons.ts'
import type { RequestDecision } from './request-decision.ts'

/** Of every counter: a fixed window from its first request. */
export const window_ms = 60_000

/** The request is served while its own place in the count is at most `limit`; the next one ends with `reason`. */
export type RateCounter = { readonly key: string; readonly limit: number; readonly reason: ProxyReason }

/** Counters of every request that a rule allows, in order: the first that is over its limit denies the request. */
export function listRateCounters({ source, rule }: RequestDecision, config: ProxyConfig): RateCounter[] {
  const counters: RateCounter[] = [{ key: `proxy:rl:${source.key}`, limit: config.read_limit, reason: 'rate_limited' }]
  if (rule?.limit !== undefined) {
    // Neither a hexadecimal digit nor `peer`: no source has such a key.
    counters.push({ key: `proxy:rl:rule:${rule.name}:${source.key}`, limit: rule.limit, reason: 'rule_rate_limited' })
  }
  return counters
}

/** The further counter of a POST, once its announced length is within the limit. */
export function buildWriteCounter({ source }: RequestDecision, config: ProxyConfig): RateCounter {
  return { key: `proxy:rl:w:${source.key}`, limit: config.write_limit, reason: 'write_rate_limited' }
}

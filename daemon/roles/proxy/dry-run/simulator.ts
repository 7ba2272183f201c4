// Replays an access log against the rules: counts by rule and by reason, limits included.
import type { ProxyConfig } from '../config.ts'
import type { ProxyReason } from '../reasons.ts'
import { type RateCounter, window_ms } from '../request/rate-counters.ts'
import type { RequestDecision } from '../request/request-decision.ts'
import { decideRequest } from '../serving/decide-request.ts'
import { selectServingSteps } from '../serving/request-steps.ts'
import { type LoggedRequest, parseLogLine } from './access-log.ts'

export type Simulation = {
  readonly requests: number
  /** Lines without a request. */
  readonly unread: number
  readonly forwarded: number
  readonly preflights: number
  /** Counts by reason, rate limits included, the most frequent first. */
  readonly denied: readonly { readonly reason: ProxyReason; readonly count: number }[]
  /** Denials by method, path and reason, the most frequent first. */
  readonly top_denied: readonly DeniedPath[]
  /** Every rule with the number of requests that it allowed, in the order of the allowlist; 0 marks an unused rule. */
  readonly rules: readonly { readonly rule: string; readonly count: number }[]
  /** Requests that the logging server answered below 400, and that the proxy would not forward. */
  readonly would_break: number
}

export type DeniedPath = {
  readonly method: string
  readonly path: string
  readonly reason: ProxyReason
  readonly count: number
}

export interface Simulator {
  take(line: string): void
  result(top: number): Simulation
}

/** Maximum of distinct denied paths, and of counters: a log may hold any number of either. */
const max_entries = 100_000

/**
 * Creates a simulator that decides each line. Limits count by the times of the log, in fixed windows from a source's
 * first request; lines without a time are not limited. A log has no bodies or tokens, and the cache is not simulated.
 */
export function simulator(config: ProxyConfig): Simulator {
  const reasons = new Map<ProxyReason, number>()
  const paths = new Map<string, DeniedPath>()
  const rules = new Map(config.rules.map(({ name }) => [name, 0]))
  const windows = new Map<string, SimulatedWindow>()
  const sums = { requests: 0, unread: 0, forwarded: 0, preflights: 0, would_break: 0 }

  const deny = (reason: ProxyReason, logged: LoggedRequest, { path }: RequestDecision) => {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (logged.status !== undefined && logged.status < 400) sums.would_break++
    const key = `${logged.method} ${path} ${reason}`
    const before = paths.get(key)
    if (!before && paths.size >= max_entries) return
    paths.set(key, { method: logged.method, path, reason, count: (before?.count ?? 0) + 1 })
  }

  return {
    take(line) {
      if (line.trim() === '') return
      const logged = parseLogLine(line)
      if (!logged) {
        sums.unread++
        return
      }
      sums.requests++
      const decision = decideRequest(buildRequestHead(logged, config), config)
      const reason = decision.reason ?? findLimitReason(decision, logged.at, config, windows)
      if (reason !== undefined) deny(reason, logged, decision)
      else if (decision.next === 'preflight') sums.preflights++
      else {
        sums.forwarded++
        const name = decision.rule?.name ?? ''
        rules.set(name, (rules.get(name) ?? 0) + 1)
      }
    },
    result: (top) => ({
      ...sums,
      denied: [...reasons].map(([reason, count]) => ({ reason, count })).toSorted(compareByCount),
      top_denied: [...paths.values()].toSorted(compareByCount).slice(0, top),
      rules: [...rules].map(([rule, count]) => ({ rule, count })),
    }),
  }
}

function compareByCount(a: { count: number }, b: { count: number }): number {
  return b.count - a.count
}

/** The head of a request, with the address of the log where the last trusted hop would write it. */
function buildRequestHead({ method, target, source }: LoggedRequest, { depth }: ProxyConfig) {
  const hops = [source, ...Array<string>(depth - 1).fill('unknown')]
  return { method, target, headers: ['x-forwarded-for', hops.join(', ')], peer: '' }
}

type SimulatedWindow = { from: number; count: number }

/** Counts in the order of the steps. A request over one limit does not count for the later ones. */
function findLimitReason(
  decision: RequestDecision,
  at: number | undefined,
  config: ProxyConfig,
  windows: Map<string, SimulatedWindow>,
): ProxyReason | undefined {
  if (at === undefined) return undefined
  for (const { counters } of selectServingSteps(decision)) {
    for (const counter of counters?.(decision, config) ?? []) {
      if (exceedsLimit(counter, at, windows)) return counter.reason
    }
  }
  return undefined
}

function exceedsLimit({ key, limit }: RateCounter, at: number, windows: Map<string, SimulatedWindow>): boolean {
  const current = windows.get(key)
  if (current && at < current.from + window_ms) {
    current.count++
    return current.count > limit
  }
  windows.delete(key)
  windows.set(key, { from: at, count: 1 })
  // The first window began longest ago.
  const [oldest = key] = windows.keys()
  if (windows.size > max_entries) windows.delete(oldest)
  return limit < 1
}

// What the proxy would have done with the requests of an access log: counts by rule and by reason, limits included.
import type { Config } from '../config.ts'
import type { Reason } from '../reasons.ts'
import { type Judgement, judge } from '../request/lifecycle.ts'
import { type Counter, readCounters, window_ms, writeCounter } from '../request/limits.ts'
import { type Logged, parseLogLine } from './access-log.ts'

export type Simulation = {
  readonly requests: number
  /** Lines with no request in them. */
  readonly unread: number
  readonly forwarded: number
  readonly preflights: number
  /** By reason, most first; the limits' reasons among them. */
  readonly denied: readonly { readonly reason: Reason; readonly count: number }[]
  /** By method, path and reason, most first. */
  readonly top_denied: readonly Denied[]
  /** Every rule with the requests that it let through, as the allowlist has them: 0 is a rule that nobody needed. */
  readonly rules: readonly { readonly rule: string; readonly count: number }[]
  /** Requests that the logging server answered below 400, and the proxy would not have forwarded. */
  readonly would_break: number
}

export type Denied = { readonly method: string; readonly path: string; readonly reason: Reason; readonly count: number }

export interface Simulator {
  take(line: string): void
  result(top: number): Simulation
}

/** Distinct denied paths, and counters, that are told apart: a log may hold any number of either. */
const most_kept = 100_000

/**
 * Judges each line as it comes. Limits count by the log's own times, in fixed windows from a source's first request; lines
 * without a time are not limited. Bodies, tokens and the cache are not known to a log.
 */
export function simulator(config: Config): Simulator {
  const reasons = new Map<Reason, number>()
  const paths = new Map<string, Denied>()
  const rules = new Map(config.rules.map(({ name }) => [name, 0]))
  const windows = new Map<string, Window>()
  const sums = { requests: 0, unread: 0, forwarded: 0, preflights: 0, would_break: 0 }

  const deny = (reason: Reason, logged: Logged, { path }: Judgement) => {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (logged.status !== undefined && logged.status < 400) sums.would_break++
    const key = `${logged.method} ${path} ${reason}`
    const before = paths.get(key)
    if (!before && paths.size >= most_kept) return
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
      const judgement = judge(headOf(logged, config), config)
      const reason = judgement.reason ?? limited(judgement, logged.at, config, windows)
      if (reason !== undefined) deny(reason, logged, judgement)
      else if (judgement.next === 'preflight') sums.preflights++
      else {
        sums.forwarded++
        const name = judgement.rule?.name ?? ''
        rules.set(name, (rules.get(name) ?? 0) + 1)
      }
    },
    result: (top) => ({
      ...sums,
      denied: [...reasons].map(([reason, count]) => ({ reason, count })).toSorted(byCount),
      top_denied: [...paths.values()].toSorted(byCount).slice(0, top),
      rules: [...rules].map(([rule, count]) => ({ rule, count })),
    }),
  }
}

function byCount(a: { count: number }, b: { count: number }): number {
  return b.count - a.count
}

/** The logging server saw the caller where the trusted hops' last entry would stand. */
function headOf({ method, target, source }: Logged, { depth }: Config) {
  const hops = [source, ...Array<string>(depth - 1).fill('unknown')]
  return { method, target, headers: ['x-forwarded-for', hops.join(', ')], peer: '' }
}

type Window = { from: number; count: number }

/** In the order of the steps: what is over at one of them counts for no later one. */
function limited(
  judgement: Judgement,
  at: number | undefined,
  config: Config,
  windows: Map<string, Window>,
): Reason | undefined {
  if (at === undefined || judgement.next === 'preflight') return undefined
  const over = readCounters(judgement, config).filter((counter) => isOver(counter, at, windows))[0]
  if (over || judgement.next !== 'write') return over?.reason
  const writes = writeCounter(judgement, config)
  return isOver(writes, at, windows) ? writes.reason : undefined
}

function isOver({ key, limit }: Counter, at: number, windows: Map<string, Window>): boolean {
  const current = windows.get(key)
  if (current && at < current.from + window_ms) {
    current.count++
    return current.count > limit
  }
  windows.delete(key)
  windows.set(key, { from: at, count: 1 })
  // The first is the one that began longest ago.
  const [oldest = key] = windows.keys()
  if (windows.size > most_kept) windows.delete(oldest)
  return limit < 1
}

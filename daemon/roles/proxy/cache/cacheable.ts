// Which answers may be kept, for how long, and under which key.
import type { Config } from '../config.ts'
import type { Judgement } from '../request/lifecycle.ts'

/** Method, normal form and query: GET and HEAD have entries of their own. */
export function cacheKey(method: string, { path, query }: Judgement): string {
  return `${method} ${path}${query}`
}

/**
 * Milliseconds for which an answer may be kept, 0 for not at all: the least of CACHE_TTL_S, the rule's `cache=`, and what is
 * left of the upstream's own time (RFC 9111). `raw`: the upstream's headers as they came, flat; `now`: milliseconds.
 */
export function keptFor(
  judgement: Judgement,
  config: Config,
  status: number,
  raw: readonly string[],
  now: number,
): number {
  void judgement
  throw new Error(`not yet ${status} ${raw.length} ${now} ${config.prefix}`)
}

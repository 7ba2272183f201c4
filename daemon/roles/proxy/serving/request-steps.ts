// The steps of a public request, declared once: the threads that serve, `platform proxy check` and `simulate` walk this list.

import { normaliseTarget } from '../../../kernel/forward/normal-target.ts'
import type { ProxyConfig } from '../config.ts'
import type { HeadDenialReason } from '../reasons.ts'
import type { ProxyRequestHeaders } from '../request/headers.ts'
import { buildWriteCounter, listRateCounters, type RateCounter, window_ms } from '../request/rate-counters.ts'
import type { RequestDecision, RequestHead, RequestStepName } from '../request/request-decision.ts'
import { identifySource } from '../request/source.ts'

/** A decision while the head steps fill it in. The path is '' until it has a normal form. */
export type DecisionDraft = { -readonly [K in keyof RequestDecision]: RequestDecision[K] }

/** A step that needs only the head of the request. */
export type HeadStep = {
  readonly name: RequestStepName
  /** A reason denies the request, `preflight` answers it here, undefined continues with the next step. */
  readonly decide: (
    draft: DecisionDraft,
    head: RequestHead,
    headers: ProxyRequestHeaders,
    config: ProxyConfig,
  ) => HeadDenialReason | 'preflight' | undefined
  /** The explanation of a request that passes the step. */
  readonly describe: (decision: RequestDecision, head: RequestHead, config: ProxyConfig) => string
}

/** A step that only a running proxy can take. `ProxyRequest` performs its action. */
export type ServingStep = {
  readonly name: RequestStepName
  /** `read`: GET and HEAD. `write`: POST. */
  readonly applies_to: 'every' | 'read' | 'write'
  readonly action: 'count' | 'check_body_length' | 'count_and_read_body' | 'find_cached' | 'obtain_token' | 'forward'
  /** The counters of the step, in order: the first that is over its limit denies the request. */
  readonly counters?: (decision: RequestDecision, config: ProxyConfig) => readonly RateCounter[]
  /** One explanation for each counter or condition. */
  readonly describe: (decision: RequestDecision, head: RequestHead, config: ProxyConfig) => readonly string[]
}

const slash_code = 47

/** In order. A request that ends at one of these is not counted, and costs about a microsecond. */
export const headSteps: readonly HeadStep[] = [
  {
    name: 'source',
    decide(draft, { peer }, { forwarded_for }, { depth, ipv6_prefix }) {
      draft.source = identifySource(forwarded_for, peer, depth, ipv6_prefix)
      return undefined
    },
    describe: ({ source }, _, { depth }) =>
      source.from === 'forwarded'
        ? `${source.address}, entry ${depth} from the end of X-Forwarded-For, counted as ${source.key}`
        : `${source.address}, the connection itself, since X-Forwarded-For has no address at position ${depth} from its end`,
  },
  {
    name: 'target',
    decide(_, { target }, __, { max_target_bytes }) {
      if (target.charCodeAt(0) !== slash_code) return 'not_origin_form'
      return target.length > max_target_bytes ? 'target_too_long' : undefined
    },
    describe: () => 'begins with a slash, and is not too long',
  },
  {
    name: 'prefix',
    decide: (_, { target }, __, { prefix }) =>
      target.charCodeAt(prefix.length) === slash_code && target.startsWith(prefix) ? undefined : 'outside_prefix',
    describe: (_, __, { prefix }) => `under ${prefix}`,
  },
  {
    name: 'path',
    decide(draft, { target }, _, { prefix }) {
      const normal = normaliseTarget(target, prefix.length)
      if ('denied' in normal) return normal.denied
      draft.path = normal.path
      draft.query = normal.query
      return undefined
    },
    describe: ({ path }) => `in normal form ${path}`,
  },
  {
    name: 'rule',
    // OPTIONS continues without a rule, to `preflight`, on every path: its answer must not reveal which paths have one.
    decide(draft, { method }, _, config) {
      if (method === 'OPTIONS') return undefined
      const rule = config.match(method, draft.path)
      if (rule === undefined) return 'no_rule'
      if (rule === 'method') return 'method'
      draft.rule = rule
      return undefined
    },
    describe: ({ rule }, { method }) => (rule ? `allowed by "${rule.name}"` : `${method} needs none`),
  },
  {
    name: 'headers',
    // The listener's own finding, an `Expect` that it does not know, is answered after this step: see ProxyRequest.
    decide: (_, { method }, { fault, hasBody }) => fault ?? (hasBody && method !== 'POST' ? 'body_on_read' : undefined),
    describe: ({ headers }) =>
      headers.length === 0
        ? 'forwards none'
        : `forwards ${headers.filter((_, at) => at % 2 === 0).join(', ')} and no other`,
  },
  {
    name: 'preflight',
    decide: ({ rule }) => (rule === undefined ? 'preflight' : undefined),
    describe: (_, { method }) => `${method} is not a preflight`,
  },
]

/** In order. */
export const servingSteps: readonly ServingStep[] = [
  {
    name: 'rate',
    applies_to: 'every',
    action: 'count',
    counters: listRateCounters,
    describe: (decision, _, config) => listRateCounters(decision, config).map(describeCounter),
  },
  {
    name: 'body',
    applies_to: 'write',
    // A body that is announced too large does not count as a write. One within the limit is read once the write is counted.
    action: 'check_body_length',
    describe: (_, __, config) => [`read whole; 413 when it is larger than ${config.max_body_bytes} bytes`],
  },
  {
    name: 'write_rate',
    applies_to: 'write',
    action: 'count_and_read_body',
    counters: (decision, config) => [buildWriteCounter(decision, config)],
    describe: (decision, _, config) => [describeCounter(buildWriteCounter(decision, config))],
  },
  {
    name: 'cache',
    applies_to: 'read',
    action: 'find_cached',
    describe: (decision, _, config) => [describeCache(decision, config)],
  },
  {
    name: 'token',
    applies_to: 'every',
    action: 'obtain_token',
    describe: () => ['a service token of the limited client; 503 when none can be obtained'],
  },
  {
    name: 'forward',
    applies_to: 'every',
    action: 'forward',
    describe: ({ path, query }, { method }) => [
      `${method} ${path}${query}, with the service token instead of the caller’s credentials`,
    ],
  },
]

/** The serving steps of GET and HEAD, and of POST: filtered once, not for each request. */
export const readSteps = servingSteps.filter(({ applies_to }) => applies_to !== 'write')
export const writeSteps = servingSteps.filter(({ applies_to }) => applies_to !== 'read')

/** Empty for a request that the head steps have ended. */
export function selectServingSteps({ next }: RequestDecision): readonly ServingStep[] {
  if (next === 'read') return readSteps
  return next === 'write' ? writeSteps : []
}

function describeCounter({ key, limit }: RateCounter): string {
  return `${limit} in ${window_ms / 1_000} s are served, the next is 429; counted as ${key}`
}

function describeCache({ isCacheable, rule }: RequestDecision, config: ProxyConfig): string {
  if (config.cache_max_bytes === 0) return 'nothing is cached while CACHE_MAX_MB is 0'
  if (!isCacheable) return 'never answered from the cache'
  const life_s = Math.min(config.cache_ttl_ms / 1_000, rule?.cache_s ?? Number.POSITIVE_INFINITY)
  return `answered from the cache, without token and upstream, if a response of at most ${life_s} s is cached`
}

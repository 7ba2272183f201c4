// Says what each step would do with a request and why, by the same judgement that the workers act on.
import type { Config } from '../config.ts'
import { whyOf } from '../reasons.ts'
import { type Judgement, judge, type RequestHead, type Step, steps } from '../request/lifecycle.ts'
import { readCounters, window_ms, writeCounter } from '../request/limits.ts'

/** `passes` and `stops` are certain; `depends` on what only a running proxy knows, which `says` names. */
export type Told = { readonly step: Step; readonly outcome: 'passes' | 'stops' | 'depends'; readonly says: string }

/** `status`: what the caller gets; undefined where the request is forwarded, and the upstream decides. */
export type Explanation = {
  readonly judgement: Judgement
  readonly status: number | undefined
  readonly steps: readonly Told[]
}

/** The steps in their order, up to the one that ends the request. */
export function explainRequest(head: RequestHead, config: Config): Explanation {
  const judgement = judge(head, config)
  const taken = steps.slice(0, steps.indexOf(judgement.step) + 1)
  const told = taken.map((step) => certain(step, head, judgement, config))
  if (judgement.next === 'deny') return { judgement, status: statusOf(judgement), steps: told }
  if (judgement.next === 'preflight') return { judgement, status: 204, steps: told }
  return { judgement, status: undefined, steps: [...told, ...uncertain(head, judgement, config)] }
}

function statusOf({ reason }: Judgement): number | undefined {
  return reason === undefined ? undefined : (whyOf(reason).status ?? undefined)
}

function certain(step: Step, head: RequestHead, judgement: Judgement, config: Config): Told {
  const { reason } = judgement
  if (step === judgement.step && reason !== undefined) {
    const { says, status } = whyOf(reason)
    return { step, outcome: 'stops', says: `${says} (${reason}): ${status}` }
  }
  if (step === 'preflight' && judgement.next === 'preflight') {
    return {
      step,
      outcome: 'stops',
      says: 'OPTIONS is answered here as a CORS preflight: 204, no token, nothing forwarded',
    }
  }
  return { step, outcome: 'passes', says: passing(step, head, judgement, config) }
}

function passing(
  step: Step,
  { method }: RequestHead,
  { source, path, rule, headers }: Judgement,
  config: Config,
): string {
  switch (step) {
    case 'source':
      return source.from === 'forwarded'
        ? `${source.address}, entry ${config.depth} from the end of X-Forwarded-For, counted as ${source.key}`
        : `${source.address}, the connection itself, since X-Forwarded-For has no address ${config.depth} from its end`
    case 'target':
      return 'begins with a slash, and is not too long'
    case 'prefix':
      return `under ${config.prefix}`
    case 'path':
      return `in normal form ${path}`
    case 'rule':
      return rule ? `allowed by "${rule.name}"` : `${path} has a rule for another method than ${method}`
    case 'headers':
      return headers.length === 0
        ? 'none goes on'
        : `${headers.filter((_, at) => at % 2 === 0).join(', ')} go on, no other`
    default:
      return `${method} is no preflight`
  }
}

function uncertain(head: RequestHead, judgement: Judgement, config: Config): Told[] {
  const rate = readCounters(judgement, config).map(counted('rate'))
  const middle =
    judgement.next === 'write'
      ? [
          depends('body', `read whole; 413 when it is larger than ${config.max_body_bytes} bytes`),
          counted('write_rate')(writeCounter(judgement, config)),
        ]
      : [depends('cache', cacheText(judgement, config))]
  return [
    ...rate,
    ...middle,
    depends('token', 'a service token of the limited client; 503 when none can be had'),
    depends('forward', `${head.method} ${judgement.path}${judgement.query}, with the token in place of any credential`),
  ]
}

function counted(step: Step) {
  return ({ key, limit }: { key: string; limit: number }) =>
    depends(step, `${limit} in ${window_ms / 1_000} s are served, the next is 429; counted as ${key}`)
}

function cacheText({ isCacheable, rule }: Judgement, config: Config): string {
  if (config.cache_max_bytes === 0) return 'nothing is kept while CACHE_MAX_MB is 0'
  if (!isCacheable) return 'never answered from the cache'
  const life_s = Math.min(config.cache_ttl_ms / 1_000, rule?.cache_s ?? Number.POSITIVE_INFINITY)
  return `answered from the cache, without token and upstream, when an answer of at most ${life_s} s is there`
}

function depends(step: Step, says: string): Told {
  return { step, outcome: 'depends', says }
}

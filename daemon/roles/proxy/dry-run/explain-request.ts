// Says what each step would do with a request and why, by the same judgement that the workers act on.
import type { ProxyConfig } from '../config.ts'
import { lookUpReason } from '../reasons.ts'
import {
  decideRequest,
  type RequestDecision,
  type RequestHead,
  type RequestStepName,
  requestSteps,
} from '../request/decide-request.ts'
import { buildWriteCounter, listRateCounters, window_ms } from '../request/rate-counters.ts'

/** `passes` and `stops` are certain; `conditionalStep` on what only a running proxy knows, which `says` names. */
export type StepExplanation = {
  readonly step: RequestStepName
  readonly outcome: 'passes' | 'stops' | 'depends'
  readonly says: string
}

/** `requestStatus`: what the caller gets; undefined where the request is forwarded, and the upstream decides. */
export type RequestExplanation = {
  readonly decision: RequestDecision
  readonly status: number | undefined
  readonly steps: readonly StepExplanation[]
}

/** The steps in their order, up to the one that ends the request. */
export function explainRequest(head: RequestHead, config: ProxyConfig): RequestExplanation {
  const judgement = decideRequest(head, config)
  const taken = requestSteps.slice(0, requestSteps.indexOf(judgement.step) + 1)
  const told = taken.map((step) => explainHeadStep(step, head, judgement, config))
  if (judgement.next === 'deny') return { decision: judgement, status: denialStatus(judgement), steps: told }
  if (judgement.next === 'preflight') return { decision: judgement, status: 204, steps: told }
  return { decision: judgement, status: undefined, steps: [...told, ...explainRemainingSteps(head, judgement, config)] }
}

function denialStatus({ reason }: RequestDecision): number | undefined {
  return reason === undefined ? undefined : (lookUpReason(reason).status ?? undefined)
}

function explainHeadStep(
  step: RequestStepName,
  head: RequestHead,
  judgement: RequestDecision,
  config: ProxyConfig,
): StepExplanation {
  const { reason } = judgement
  if (step === judgement.step && reason !== undefined) {
    const { says, status } = lookUpReason(reason)
    return { step, outcome: 'stops', says: `${says} (${reason}): ${status}` }
  }
  if (step === 'preflight' && judgement.next === 'preflight') {
    return {
      step,
      outcome: 'stops',
      says: 'OPTIONS is answered here as a CORS preflight: 204, no token, nothing forwarded',
    }
  }
  return { step, outcome: 'passes', says: describePass(step, head, judgement, config) }
}

function describePass(
  step: RequestStepName,
  { method }: RequestHead,
  { source, path, rule, headers }: RequestDecision,
  config: ProxyConfig,
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

function explainRemainingSteps(head: RequestHead, judgement: RequestDecision, config: ProxyConfig): StepExplanation[] {
  const rate = listRateCounters(judgement, config).map(explainCounter('rate'))
  const middle =
    judgement.next === 'write'
      ? [
          conditionalStep('body', `read whole; 413 when it is larger than ${config.max_body_bytes} bytes`),
          explainCounter('write_rate')(buildWriteCounter(judgement, config)),
        ]
      : [conditionalStep('cache', describeCache(judgement, config))]
  return [
    ...rate,
    ...middle,
    conditionalStep('token', 'a service token of the limited client; 503 when none can be had'),
    conditionalStep(
      'forward',
      `${head.method} ${judgement.path}${judgement.query}, with the token in place of any credential`,
    ),
  ]
}

function explainCounter(step: RequestStepName) {
  return ({ key, limit }: { key: string; limit: number }) =>
    conditionalStep(step, `${limit} in ${window_ms / 1_000} s are served, the next is 429; counted as ${key}`)
}

function describeCache({ isCacheable, rule }: RequestDecision, config: ProxyConfig): string {
  if (config.cache_max_bytes === 0) return 'nothing is kept while CACHE_MAX_MB is 0'
  if (!isCacheable) return 'never answered from the cache'
  const life_s = Math.min(config.cache_ttl_ms / 1_000, rule?.cache_s ?? Number.POSITIVE_INFINITY)
  return `answered from the cache, without token and upstream, when an answer of at most ${life_s} s is there`
}

function conditionalStep(step: RequestStepName, says: string): StepExplanation {
  return { step, outcome: 'depends', says }
}

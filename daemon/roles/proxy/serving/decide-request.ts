// The decision that the head of a request alone allows: the head steps in order, up to the first that ends the request.
import type { ProxyConfig } from '../config.ts'
import type { HeadDenialReason } from '../reasons.ts'
import { type ProxyRequestHeaders, readRequestHeaders } from '../request/headers.ts'
import type { RequestDecision, RequestHead, RequestStepName } from '../request/request-decision.ts'
import type { RequestSource } from '../request/source.ts'
import { type DecisionDraft, type HeadStep, headSteps } from './request-steps.ts'

const max_shown_characters = 1_024
const noHeaders: readonly string[] = []
const unknownSource: RequestSource = { address: 'unknown', key: 'unknown', from: 'peer' }

/** Never throws, whatever the bytes. Costs about a microsecond, and allocates one object. */
export function decideRequest(head: RequestHead, config: ProxyConfig): RequestDecision {
  const headers = readRequestHeaders(head.headers)
  const draft: DecisionDraft = {
    next: 'deny',
    step: 'source',
    reason: undefined,
    source: unknownSource,
    path: '',
    query: '',
    rule: undefined,
    headers: noHeaders,
    isCacheable: false,
  }
  for (let at = 0; at < headSteps.length; at++) {
    const step = headSteps[at] as HeadStep
    draft.step = step.name
    const end = step.decide(draft, head, headers, config)
    if (end === 'preflight') return answerPreflight(draft)
    if (end !== undefined) return denyRequest(draft, step.name, end, head.target)
  }
  return admitRequest(draft, headers, config)
}

function denyRequest(
  draft: DecisionDraft,
  step: RequestStepName,
  reason: HeadDenialReason,
  target: string,
): RequestDecision {
  draft.next = 'deny'
  draft.step = step
  draft.reason = reason
  if (draft.path === '') draft.path = printableTarget(target)
  draft.query = ''
  draft.rule = undefined
  return draft
}

function answerPreflight(draft: DecisionDraft): RequestDecision {
  draft.next = 'preflight'
  draft.query = ''
  return draft
}

function admitRequest(
  draft: DecisionDraft,
  { allowed, accept_encoding }: ProxyRequestHeaders,
  config: ProxyConfig,
): RequestDecision {
  const isRead = draft.rule?.method !== 'POST'
  draft.next = isRead ? 'read' : 'write'
  draft.isCacheable = isRead && config.cache_max_bytes > 0 && config.cache_ttl_ms > 0 && draft.rule?.cache_s !== 0
  // A cached response serves every caller, so the upstream is requested to use the one encoding that every caller
  // understands.
  const encoding = draft.isCacheable ? 'identity' : accept_encoding
  draft.headers = encoding === '' ? allowed : [...allowed, 'accept-encoding', encoding]
  return draft
}

/**
 * The path without the query, which is not matched and may hold secrets. Bytes that are not printable ASCII are escaped,
 * because logs and terminals would interpret them.
 */
function printableTarget(target: string): string {
  const end = target.search(/[?#]/)
  const path = target.slice(0, end < 0 ? max_shown_characters : Math.min(end, max_shown_characters))
  return path.replaceAll(/[^!-~]/g, (byte) => escapeByte(byte.charCodeAt(0)))
}

function escapeByte(code: number): string {
  return `%${(code & 255).toString(16).toUpperCase().padStart(2, '0')}`
}

// The span of one sampled public request and of its forwarding. Every text is fixed or the operator's, never a caller's.
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import { childTrace, type Trace } from '../../../kernel/telemetry/trace.ts'
import type { AllowlistRule } from '../allowlist/rule.ts'
import type { PlatformOrigin } from '../platform-origin.ts'
import { lookUpReason, type ProxyReason } from '../reasons.ts'

/** The methods that spans name; any other is `_OTHER`, as the OpenTelemetry conventions say. */
const namedMethods: ReadonlySet<string> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'],
])

/** What a span needs beside its request. `now`: epoch milliseconds, with fractions. */
export type RequestSpanContext = {
  readonly scheme: 'http' | 'https'
  readonly origin: Pick<PlatformOrigin, 'host' | 'port' | 'base'>
  readonly random: (bytes: number) => string
  readonly now: () => number
  readonly end: (span: TraceSpan) => void
}

/** `status` as in the audit record: 0 where the caller had left. */
export type RequestOutcome = {
  readonly reason: ProxyReason
  readonly status: number
  readonly upstream_status: number | null
  readonly rule: AllowlistRule | undefined
  /** Public prefix of the paths of rules. */
  readonly prefix: string
}

export class RequestSpan {
  readonly #context: RequestSpanContext
  readonly #trace: Trace
  readonly #method: string
  readonly #started_ms: number
  #forwarded_ms: number | undefined
  #isCacheMissed = false
  #outcome: RequestOutcome | undefined
  #isOver = false

  constructor(context: RequestSpanContext, trace: Trace, method: string) {
    this.#context = context
    this.#trace = trace
    this.#method = namedMethods.has(method) ? method : '_OTHER'
    this.#started_ms = context.now()
  }

  /** The request looked for a cached answer, and there was none. */
  missCache(): void {
    this.#isCacheMissed = true
  }

  /** The request is about to be forwarded. */
  forward(): void {
    this.#forwarded_ms = this.#context.now()
  }

  /** The request is answered; a span whose answer comes from the upstream lasts until `endForwarding`. */
  answer(outcome: RequestOutcome): void {
    this.#outcome ??= outcome
    if (outcome.reason !== 'forwarded') this.#end(undefined)
  }

  /** The upstream has no more to send. `broken`: why its response ended early, for a fault of the upstream. */
  endForwarding(broken: ProxyReason | undefined): void {
    this.#end(broken)
  }

  #end(broken: ProxyReason | undefined): void {
    const outcome = this.#outcome
    if (this.#isOver || !outcome) return
    this.#isOver = true
    const ended_ms = this.#context.now()
    if (this.#forwarded_ms !== undefined) {
      this.#context.end(this.#describeForwarding(outcome, this.#forwarded_ms, ended_ms, broken))
    }
    this.#context.end(this.#describeRequest(outcome, ended_ms, broken))
  }

  #describeRequest(outcome: RequestOutcome, ended_ms: number, broken: ProxyReason | undefined): TraceSpan {
    const { reason, status, rule, prefix } = outcome
    const route = rule && prefix + readPathTemplate(rule)
    const error = broken ?? (status >= 500 ? nameError(reason, status) : undefined)
    return {
      trace: this.#trace,
      name: nameSpan(this.#method, route),
      kind: 'server',
      started_ms: this.#started_ms,
      ended_ms,
      isError: error !== undefined,
      attributes: {
        'http.request.method': this.#method,
        'url.scheme': this.#context.scheme,
        ...(route === undefined ? {} : { 'http.route': route }),
        ...(status === 0 ? {} : { 'http.response.status_code': status }),
        ...(error === undefined ? {} : { 'error.type': error }),
        'platform.proxy.verdict': lookUpReason(reason).verdict,
        'platform.proxy.reason': reason,
        ...(rule === undefined ? {} : { 'platform.proxy.rule': rule.name }),
        'platform.proxy.cache': reason === 'cache_hit' ? 'hit' : this.#isCacheMissed ? 'miss' : 'none',
      },
    }
  }

  /** The part of the request at the upstream, which receives no trace of this span. */
  #describeForwarding(
    { reason, upstream_status, rule }: RequestOutcome,
    started_ms: number,
    ended_ms: number,
    broken: ProxyReason | undefined,
  ): TraceSpan {
    const { origin, random } = this.#context
    const template = rule && origin.base + readPathTemplate(rule)
    const isFailed = upstream_status === null ? reason !== 'client_gone' : upstream_status >= 400
    const error = broken ?? (isFailed ? nameError(reason, upstream_status) : undefined)
    return {
      trace: childTrace(this.#trace, random),
      name: nameSpan(this.#method, template),
      kind: 'client',
      started_ms,
      ended_ms,
      isError: error !== undefined,
      attributes: {
        'http.request.method': this.#method,
        'server.address': origin.host,
        'server.port': origin.port,
        ...(template === undefined ? {} : { 'url.template': template }),
        ...(upstream_status === null ? {} : { 'http.response.status_code': upstream_status }),
        ...(error === undefined ? {} : { 'error.type': error }),
      },
    }
  }
}

const nameSpan = (method: string, route: string | undefined) =>
  route === undefined ? method.replace('_OTHER', 'HTTP') : `${method} ${route}`

/** The status of the upstream where it answered, else the reason of the audit record. */
const nameError = (reason: ProxyReason, status: number | null) => (reason === 'forwarded' ? String(status) : reason)

/** `/api/v1/report/{id}` of the rule `GET /api/v1/report/{id}`. */
const readPathTemplate = ({ name, method }: AllowlistRule) => name.slice(method.length + 1)

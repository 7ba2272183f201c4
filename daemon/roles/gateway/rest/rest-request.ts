// One REST request that the gateway forwards: its caller, the guardrails, its owner, and its record.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import {
  type ForwardedExchange,
  type ForwardFailure,
  type ForwardRoute,
  forwardExchange,
} from '../../../kernel/forward/forward-exchange.ts'
import { findForwardFault } from '../../../kernel/forward/forward-fault.ts'
import { removeHopHeaders } from '../../../kernel/forward/hop-headers.ts'
import { admitCaller } from '../../../kernel/identity/admit-caller.ts'
import type { Caller, PresentedCredential } from '../../../kernel/identity/identity.ts'
import type { RoleContext } from '../../../kernel/operation/role-context.ts'
import { AnsweredExchange, type AnswerPolicy } from '../../../shared/forwarding/answered-exchange.ts'
import type { ExchangeShares } from '../../../shared/forwarding/exchange-shares.ts'
import {
  type ForwardRefusal,
  refuseFailure,
  refuseFault,
  refuseWith,
  reportFailure,
} from '../../../shared/forwarding/forward-problem.ts'
import { buildOwnerHeaders, readField } from '../../../shared/forwarding/owner-headers.ts'
import { refuseTrace } from '../../../shared/forwarding/request-trace.ts'
import { type RoutedTarget, readHostHeader, routeRequest } from '../../../shared/forwarding/route-request.ts'
import { callerKey } from '../caller-key.ts'
import { GuardrailRefusal, type Guardrails, guardCall } from '../guardrail/guard-call.ts'
import { describeDenial } from '../guardrail/record-denial.ts'
import { guardrailDenialTotal, restRequestTotal, restSeconds } from '../metrics.ts'
import type { OwnerRoutes } from './parts.ts'

export type RestForwarding = AnswerPolicy & {
  readonly routes: OwnerRoutes
  readonly guardrails: Guardrails
  readonly trusted_proxy_depth: number
  readonly max_body_bytes: number
  /** Of callers. */
  readonly shares: ExchangeShares
}

/** In audit records and logs. Any valid token is admitted: the owner holds it to the permission of the operation. */
const rest_address = 'gateway.rest.forward'
const admission = { address: rest_address, operation: { allow: 'authenticated' } } as const

export class RestRequest implements ForwardRoute {
  path = ''
  headers: readonly string[] = []
  max_body_bytes: number
  readonly #forwarding: RestForwarding
  readonly #context: RoleContext
  readonly #exchange: Exchange
  readonly #answered: AnsweredExchange
  /** Of the caller that holds a share until the end of the request. */
  #holder: string | undefined
  #forwarded: ForwardedExchange | undefined

  constructor(forwarding: RestForwarding, context: RoleContext, exchange: Exchange) {
    this.#forwarding = forwarding
    this.#context = context
    this.#exchange = exchange
    this.#answered = new AnsweredExchange(forwarding, context, exchange, restSeconds)
    this.max_body_bytes = forwarding.max_body_bytes
  }

  /** Never rejects. */
  async serve(presented: PresentedCredential): Promise<void> {
    const refused = await this.#prepare(presented).catch((error: unknown) => this.#reportFault(error))
    const { service } = this.#answered
    const upstream = refused ? undefined : this.#forwarding.routes.findUpstream(service)
    if (upstream) {
      this.#forwarded = forwardExchange(this.#exchange, upstream, this)
      return
    }
    this.#answered.refuse(refused ?? refuseWith(refuse('no_backend', `${service} is not available at this site`)))
    this.#record(undefined)
  }

  answerHeaders(_: number, headers: string[]): readonly string[] {
    return this.#answered.traceAnswer(headers)
  }

  onAnswer(status: number): void {
    this.#answered.begin(status)
    this.#forwarded?.release()
  }

  onEnd(failure: ForwardFailure | undefined): void {
    if (failure && this.#answered.status === 0) this.#answered.refuse(refuseFailure(failure))
    this.#record(failure)
  }

  /** Sets what is forwarded; the answer is the refusal of a request that is not. */
  async #prepare(presented: PresentedCredential): Promise<ForwardRefusal | undefined> {
    const { target, rawHeaders } = this.#exchange
    const { routes, shares, trace_policy } = this.#forwarding
    const fault = findForwardFault(this.#exchange)
    if (fault !== undefined) return refuseFault(fault)
    const untraced = refuseTrace(this.#answered.trace, trace_policy)
    if (untraced) return refuseWith(untraced)
    const host = readHostHeader(rawHeaders)
    if (host === undefined) return refuseWith(refuse('malformed', 'the request names no host'))
    const routed = routeRequest(routes.findRoute, host, target)
    if (isRefusal(routed)) return refuseWith(routed)
    this.#answered.target = routed
    const caller = await admitCaller(this.#context, admission, presented)
    if (isRefusal(caller)) return refuseWith(caller)
    const holder = callerKey(caller)
    if (!shares.take(holder))
      return refuseWith(refuse('rate_limited', 'too many requests of this caller are under way'))
    this.#holder = holder
    const refused = await this.#guard(caller, routed)
    if (refused) return refuseWith(refused)
    this.path = routed.path + routed.query
    this.headers = this.#buildHeaders(host)
    // A client could name the field as one of its connection: the owner would see another caller than the guardrails.
    if (!this.headers.some((name, at) => at % 2 === 0 && name === 'authorization'))
      return refuseWith(refuse('unauthenticated', 'send the token in the header Authorization'))
    return undefined
  }

  async #guard(caller: Caller, { service, path, query }: RoutedTarget): Promise<Refusal | undefined> {
    const { method, framing } = this.#exchange
    const { tenant_id, subject, roles, clearance } = caller
    const limits = await guardCall(this.#forwarding.guardrails, {
      ...{ kind: 'rest', tenant_id, subject, roles, level: clearance?.level, service, method, path: path + query },
      body_bytes: framing === 'chunked' ? undefined : framing,
      texts: [],
    })
    if (!isRefusal(limits)) {
      this.max_body_bytes = Math.min(this.max_body_bytes, limits.max_body_bytes)
      return undefined
    }
    if (limits instanceof GuardrailRefusal) await this.#recordDenial(caller, limits, path)
    return limits
  }

  async #recordDenial({ subject, tenant_id }: Caller, refusal: GuardrailRefusal, target: string): Promise<void> {
    const { environment, record } = this.#context
    environment.count(guardrailDenialTotal, refusal.denial)
    if (!refusal.isRecorded) return
    const described = describeDenial(refusal, { kind: 'rest', target, method: this.#exchange.method })
    const at = new Date(environment.now()).toISOString()
    await record([{ ...described, at, subject, tenant_id, trace_id: this.#answered.trace_id }])
  }

  /** The token and the cookies go on: the owner admits the caller again. */
  #buildHeaders(host: string): readonly string[] {
    const { rawHeaders, peer } = this.#exchange
    const { scheme, trusted_proxy_depth } = this.#forwarding
    // Behind a trusted hop its facts about the client stay: this hop has seen the trusted one alone.
    const trusted = (name: string) => (trusted_proxy_depth > 0 ? readField(rawHeaders, name) : undefined)
    const proto = trusted('x-forwarded-proto') === 'https' ? 'https' : scheme
    const client = { peer, scheme: proto, host: trusted('x-forwarded-host') ?? host, certificate: undefined } as const
    const headers = buildOwnerHeaders(removeHopHeaders(rawHeaders), client, trusted_proxy_depth)
    const certificate = trusted('client-cert')
    if (certificate !== undefined) headers.push('client-cert', certificate)
    return this.#answered.traceRequest(headers)
  }

  #reportFault(error: unknown): ForwardRefusal {
    if (isRefusal(error)) return refuseWith(error)
    const { trace_id } = this.#answered
    this.#context.environment.log.error(`${rest_address}.failed`, { trace_id, error: String(error) })
    return refuseWith(refuse('internal', 'the service failed; find the cause in its log by the trace id'))
  }

  #record(failure: ForwardFailure | undefined): void {
    if (this.#holder !== undefined) this.#forwarding.shares.release(this.#holder)
    const { service, trace_id } = this.#answered
    this.#context.environment.count(restRequestTotal, { service, status_class: this.#answered.statusClass(failure) })
    reportFailure(this.#context, 'gateway.forward.failed', { failure, service, trace_id })
  }
}

// One exchange that a role forwards or refuses: its trace, and the status, headers and time that each of its answers has.
import type { Exchange } from '../../kernel/forward/exchange.ts'
import type { ForwardFailure } from '../../kernel/forward/forward-exchange.ts'
import type { RoleContext } from '../../kernel/operation/role-context.ts'
import type { Metric } from '../../kernel/telemetry/metrics.ts'
import { traceparentOf } from '../../kernel/telemetry/trace.ts'
import { reportTraceFault, type TracePolicy } from '../../kernel/telemetry/trace-policy.ts'
import { buildAnswerHeaders } from './answer-headers.ts'
import { answerRefusal, type ForwardRefusal } from './forward-problem.ts'
import { buildTracedAnswer, buildTraceHeaders, type ForwardTrace, findForwardTrace } from './request-trace.ts'
import type { RoutedTarget } from './route-request.ts'

export type AnswerPolicy = { readonly scheme: 'http' | 'https'; readonly trace_policy: TracePolicy }

export class AnsweredExchange {
  readonly trace: ForwardTrace
  /** Absent while the request has no owner. */
  target: RoutedTarget | undefined
  /** 0 before the answer. */
  status = 0
  readonly #policy: AnswerPolicy
  readonly #context: RoleContext
  readonly #exchange: Exchange
  /** From the head of the request to the head of its answer, by service. */
  readonly #seconds: Metric<'service'>
  readonly #began_ms: number

  constructor(policy: AnswerPolicy, context: RoleContext, exchange: Exchange, seconds: Metric<'service'>) {
    const { monotonic, random, log } = context.environment
    this.#policy = policy
    this.#context = context
    this.#exchange = exchange
    this.#seconds = seconds
    this.#began_ms = monotonic()
    this.trace = findForwardTrace(exchange.rawHeaders, policy.trace_policy, random)
    reportTraceFault({ throttle: context.throttle, log }, policy.trace_policy, this.trace)
  }

  get trace_id(): string {
    return this.trace.trace.trace_id
  }

  /** Of the owner; `none` without one. */
  get service(): string {
    return this.target?.service ?? 'none'
  }

  get elapsed_ms(): number {
    return this.#context.environment.monotonic() - this.#began_ms
  }

  /** Headers of the request for its owner, with the trace. */
  traceRequest(headers: readonly string[]): readonly string[] {
    return buildTraceHeaders(headers, this.#policy.trace_policy.header, this.trace)
  }

  /** Headers of the owner's answer for the client, with the trace. */
  traceAnswer(headers: string[]): readonly string[] {
    const { scheme, trace_policy } = this.#policy
    return buildTracedAnswer(buildAnswerHeaders(headers, scheme), trace_policy.header, this.trace)
  }

  /** Notes the status of an answer at its head. */
  begin(status: number): void {
    this.status = status
    this.#context.environment.observe(this.#seconds, { service: this.service }, this.elapsed_ms / 1_000)
  }

  reply(status: number, headers: readonly string[], body: Buffer = Buffer.alloc(0)): void {
    const { trace_policy, scheme } = this.#policy
    const common = ['cache-control', 'no-store', trace_policy.header, traceparentOf(this.trace.trace)]
    this.begin(status)
    this.#exchange.reply(status, buildAnswerHeaders([...headers, ...common], scheme), body)
  }

  /** Replies with the problem document of the refusal, and returns the bytes of its body. */
  refuse(refused: ForwardRefusal): number {
    const { headers, body } = answerRefusal(refused, this.trace_id)
    this.reply(refused.status, headers, body)
    return body.length
  }

  statusClass(failure: ForwardFailure | undefined): string {
    if (failure === 'gone') return 'aborted'
    return `${Math.floor(this.status / 100)}xx`
  }
}

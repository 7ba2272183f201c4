// Problem documents of roles that forward: refusals of requests, and failures of the services behind them.
import { type ErrorCode, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Problem, problemOf } from '../../kernel/error/problem.ts'
import type { ForwardFailure } from '../../kernel/forward/forward-exchange.ts'
import type { RoleContext } from '../../kernel/operation/role-context.ts'

/** Statuses without a code of their own keep that of the code, such as 502 of `unavailable`. */
export type ForwardRefusal = { readonly refusal: Refusal; readonly status: number }

const failures: Readonly<Record<ForwardFailure, readonly [status: number, code: ErrorCode, detail: string]>> = {
  connect: [503, 'no_backend', 'no process of the service accepts connections'],
  no_member: [503, 'no_backend', 'every process of the service is down'],
  busy: [503, 'unavailable', 'all connections to the service are in use'],
  address: [502, 'unavailable', 'the address of the service may not be dialled'],
  closed: [502, 'unavailable', 'the service closed the connection before it answered'],
  protocol: [502, 'unavailable', 'the answer of the service is not HTTP'],
  timeout: [504, 'timeout', 'the service did not answer in time'],
  request: [400, 'malformed', 'another server could read the header fields differently'],
  too_large: [413, 'too_large', 'the body is larger than the site takes'],
  too_slow: [408, 'malformed', 'the body did not arrive in time'],
  malformed: [400, 'malformed', 'the body is not well framed'],
  gone: [499, 'malformed', 'the client has left'],
}

export function refuseFailure(failure: ForwardFailure): ForwardRefusal {
  const [status, code, detail] = failures[failure]
  return { refusal: refuse(code, detail), status }
}

const codeByFaultStatus: Readonly<Partial<Record<number, ErrorCode>>> = { 405: 'method_not_allowed' }

/** Of a request that may not be forwarded whatever its route. */
export function refuseFault(status: number): ForwardRefusal {
  const code = codeByFaultStatus[status] ?? 'malformed'
  const detail = status === 405 ? 'this method is not forwarded' : 'another server could read this request differently'
  return { refusal: refuse(code, detail), status }
}

export function refuseWith(refusal: Refusal): ForwardRefusal {
  return { refusal, status: refusal.row.status }
}

const default_retry_after_s = 5

/** The answer to a refused request, for `Exchange.reply`. */
export function answerRefusal(
  { refusal, status }: ForwardRefusal,
  trace_id: string,
): { readonly headers: readonly string[]; readonly body: Buffer } {
  const problem: Problem = { ...problemOf(refusal, trace_id), status }
  const headers = ['content-type', 'application/problem+json', 'x-content-type-options', 'nosniff']
  if (status === 401) headers.push('www-authenticate', 'Bearer realm="platform"')
  if (status === 429 || status === 503)
    headers.push('retry-after', String(refusal.retry_after_s ?? default_retry_after_s))
  return { headers, body: Buffer.from(JSON.stringify(problem)) }
}

/** Of a client's making: nothing to report about the service. */
const clientFailures: ReadonlySet<ForwardFailure> = new Set([
  ...(['gone', 'too_large', 'too_slow', 'malformed', 'request'] as const),
])

/** A failure of the service in the log of the role: once a minute for each kind. */
export function reportFailure(
  { throttle, environment }: Pick<RoleContext, 'throttle' | 'environment'>,
  event: string,
  { failure, service, trace_id }: { failure: ForwardFailure | undefined; service: string; trace_id: string },
): void {
  if (!failure || clientFailures.has(failure)) return
  const times = throttle(`forwarding ${failure} ${service}`)
  if (times !== undefined) environment.log.warn(event, { service, failure, times, trace_id })
}

/** Upper bounds of the time to the head of a response, in seconds. */
export const forward_seconds_buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

// Events of a forwarded request, passed from its route to the request for its record, its reply and the upstream's health.
import type { BodyFailure } from '../../../kernel/forward/exchange.ts'
import type { ForwardFailure } from '../../../kernel/forward/forward-exchange.ts'
import type { ProxyReason } from '../reasons.ts'

/** The events are constants that all requests share, and have one shape: only the first use of a status creates one. */
export type ForwardEvent = {
  /**
   * `answered`: the head of the response arrived. `failed`: no response arrived. `broken_off`: the upstream ended a response
   * early. `caller_left`: the client disconnected first.
   */
  readonly type: 'answered' | 'failed' | 'broken_off' | 'caller_left'
  readonly reason: ProxyReason
  /** Status of the upstream; 0 when it sent none. */
  readonly status: number
  /** Health of the upstream according to the event; undefined when the event gives no evidence. */
  readonly health: UpstreamHealth | undefined
}

export type UpstreamHealth = { readonly ok: boolean; readonly detail: string }

/** Statuses with which a gateway in front of the platform reports that the platform is unavailable. */
const unavailable_statuses: ReadonlySet<number> = new Set([502, 503, 504])
/**
 * An upstream that is silent for this long is unhealthy, even if the caller disconnects. An earlier disconnect is no
 * evidence.
 */
const silence_limit_ms = 5_000

/** Why the body of a caller was not read. */
export const reasonsByBodyFailure: Readonly<Record<BodyFailure, ProxyReason>> = {
  gone: 'client_left',
  too_large: 'body_too_large',
  too_slow: 'slow_client',
  malformed: 'malformed',
}

const reasonsByFailure: Readonly<Record<ForwardFailure, ProxyReason>> = {
  ...reasonsByBodyFailure,
  address: 'upstream_address',
  connect: 'upstream_unreachable',
  busy: 'upstream_unreachable',
  no_member: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  closed: 'upstream_unreachable',
  protocol: 'upstream_protocol',
  request: 'malformed',
}

const answeredEvents = new Map<number, ForwardEvent>()

/** `status`: three digits, so that the map stays small. */
export function answeredEvent(status: number): ForwardEvent {
  const existing = answeredEvents.get(status)
  if (existing) return existing
  const health = { ok: !unavailable_statuses.has(status), detail: `answered ${status}` }
  const event: ForwardEvent = { type: 'answered', reason: 'forwarded', status, health }
  answeredEvents.set(status, event)
  return event
}

/** Failures that are no evidence against the upstream: those of the caller, and of a request that was not sent or found no free connection. */
const otherFailures: ReadonlySet<string> = new Set([...Object.keys(reasonsByBodyFailure), 'busy', 'request'])

const failedEvents = buildFailureEvents('failed')
const brokenOffEvents = buildFailureEvents('broken_off')

export function failureEvent(failure: ForwardFailure, hasHead: boolean): ForwardEvent {
  return (hasHead ? brokenOffEvents : failedEvents)[failure]
}

function buildFailureEvents(type: 'failed' | 'broken_off'): Readonly<Record<ForwardFailure, ForwardEvent>> {
  const events = Object.entries(reasonsByFailure).map(([failure, reason]) => {
    const health = otherFailures.has(failure) ? undefined : { ok: false, detail: reason }
    return [failure, { type, reason, status: 0, health }]
  })
  return Object.fromEntries(events)
}

const callerLeft: ForwardEvent = { type: 'caller_left', reason: 'client_gone', status: 0, health: undefined }
const callerLeftSilence: ForwardEvent = {
  ...callerLeft,
  health: { ok: false, detail: 'silent until the caller disconnected' },
}

/** `silent_ms`: how long the upstream had sent nothing; 0 when a response had begun. */
export function callerLeftEvent(silent_ms: number): ForwardEvent {
  return silent_ms >= silence_limit_ms ? callerLeftSilence : callerLeft
}

// Events of a forwarded request, passed from the response relay to the request for its record, its reply and the
// upstream's health.
import type { UpstreamFailure } from '../../../kernel/forward/upstream.ts'
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

const reasonsByFailure: Readonly<Record<UpstreamFailure, ProxyReason>> = {
  address: 'upstream_address',
  connect: 'upstream_unreachable',
  busy: 'upstream_unreachable',
  no_member: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  closed: 'upstream_unreachable',
  protocol: 'upstream_protocol',
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

const failedEvents = buildFailureEvents('failed')
const brokenOffEvents = buildFailureEvents('broken_off')

export function failureEvent(failure: UpstreamFailure, hasHead: boolean): ForwardEvent {
  return hasHead ? brokenOffEvents[failure] : failedEvents[failure]
}

function buildFailureEvents(type: 'failed' | 'broken_off'): Readonly<Record<UpstreamFailure, ForwardEvent>> {
  const build = (failure: UpstreamFailure): ForwardEvent => {
    const reason = reasonsByFailure[failure]
    // A request that found no free connection never reached the upstream.
    return { type, reason, status: 0, health: failure === 'busy' ? undefined : { ok: false, detail: reason } }
  }
  return {
    address: build('address'),
    connect: build('connect'),
    busy: build('busy'),
    no_member: build('no_member'),
    timeout: build('timeout'),
    closed: build('closed'),
    protocol: build('protocol'),
  }
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

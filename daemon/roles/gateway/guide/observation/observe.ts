// Observes an event of the gateway: it is put into the queue of this process, and the request goes on at once.
import type { Call } from '../../../../kernel/operation/call.ts'
import { other_label_value } from '../../../../kernel/telemetry/metrics.ts'
import { labelOfCaller } from '../../chat/rules.ts'
import { serviceToolsPart } from '../../service-tool/parts.ts'
import { guideSettings } from '../settings.ts'
import { boundPayload } from './bound-payload.ts'
import { estimateBytes } from './estimate-bytes.ts'
import { ingestAcceptedTotal, ingestDroppedTotal, lastIngestTs } from './metrics.ts'
import type { EventType } from './model.ts'
import { type ObserverParts, observerPart } from './parts.ts'
import type { EntryOffer } from './queue.ts'
import { stampObservation } from './rules.ts'

export type ObservedEvent = {
  readonly event_type: EventType
  readonly service: string
  readonly conversation_id?: string
  /** Default: that of the request. */
  readonly trace_id?: string
  /** The highest level of data in the event; undefined: that of the caller. */
  readonly ceiling?: string | undefined
  readonly payload: unknown
  /** Default: it was observed at once. */
  readonly latency_ms?: number
}

/** The name of the gateway among services. */
export const gateway_service = 'gateway'
/** The worker that stores what waits in the queue. */
export const ingest_worker = 'ingest-observations'
/** As many as are stored before the next second: a batch costs as much for one as for hundreds. */
export const early_depth = 500

/** Never throws and never waits: what fails here is logged, and the request knows nothing of it. */
export function observe(call: Call, event: ObservedEvent): void {
  try {
    if (!call.settings(guideSettings).enabled) return
    const { tenant_id, subject, roles } = call.caller
    const observer = call.part(observerPart)
    const now = call.now()
    const observation = stampObservation(
      {
        ...{ tenant_id, label: labelOfCaller(call.caller, call.site.labels, event.ceiling) },
        ...{ event_type: event.event_type, service: event.service, timestamp: nextInstant(observer.instants, now) },
        ...{ trace_id: event.trace_id ?? call.trace.trace_id, parent_trace_id: null },
        conversation_id: event.conversation_id ?? '',
        caller_identity: { username: subject, roles: [...roles] },
        emitted_by: { token_subject: subject, token_roles: [...roles], context: 'in_process' },
        payload: boundPayload(event.payload),
      },
      now,
      observer.principals,
    )
    const begun_ts = findBegin(call, observer, event, now)
    offerEntry(call, { kind: 'observation', observation, ...begun_ts }, event.service)
  } catch (error) {
    call.log.warn('gateway.guide.observation.failed', { error })
  }
}

/** A request without a trace of its caller begins one, which others may know as soon as the call has begun that is observed. */
function findBegin(
  { trace }: Call,
  { seenTraces }: ObserverParts,
  { trace_id, latency_ms = 0 }: ObservedEvent,
  now: number,
): { readonly begun_ts?: number } {
  if (trace_id !== undefined || trace.parent_id !== undefined || seenTraces.has(trace)) return {}
  seenTraces.add(trace)
  return { begun_ts: now - latency_ms - 1 }
}

/** Puts an entry into the queue. False: it was full, and the entry is dropped and counted. */
export function offerEntry(call: Call, entry: EntryOffer['entry'], of: string): boolean {
  const { queue } = call.part(observerPart)
  const service = nameService(call, of)
  const bytes = estimateBytes(entry)
  const isAccepted = queue.offer({ entry, service, bytes, now: call.now() })
  call.count(isAccepted ? ingestAcceptedTotal : ingestDroppedTotal, { service })
  if (isAccepted) call.set(lastIngestTs, { service }, call.now() / 1_000)
  if (isAccepted && queue.depth === early_depth) call.wake(ingest_worker)
  return isAccepted
}

/** The name as the registry knows it, so that callers cannot invent values of labels. */
export function nameService(call: Pick<Call, 'part'>, service: string): string {
  const { own, states } = call.part(serviceToolsPart)
  return service === gateway_service || own.has(service) || states.has(service) ? service : other_label_value
}

/** ISO 8601 with microseconds: the number of the event in its millisecond, so that two events are never one. */
function nextInstant(instants: ObserverParts['instants'], now: number): string {
  if (instants.at !== now) {
    instants.at = now
    instants.count = 0
  }
  const digits = instants.count % 1_000
  instants.count += 1
  const second = Math.floor(now / 1_000)
  if (instants.second !== second) {
    instants.second = second
    instants.text = new Date(second * 1_000).toISOString().slice(0, -'000Z'.length)
  }
  const milliseconds = Math.floor(now) - second * 1_000
  return `${instants.text}${String(milliseconds * 1_000 + digits).padStart(6, '0')}Z`
}

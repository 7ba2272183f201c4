// Sends the events of an operation as its response, for as long as the caller stays admitted.
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { streamEvents } from './event-stream.ts'
import { type ListenerContext, readmitCaller, toRefusal } from './handle-request.ts'
import type { ServedRequest } from './served-request.ts'
import type { ResponseHeaders } from './write-response.ts'

/** Never rejects. */
export async function streamResponse(
  context: ListenerContext,
  served: ServedRequest,
  headers: ResponseHeaders,
  status: number,
  events: AsyncIterable<ServerEvent>,
) {
  const { raw } = served.reply.hijack()
  if (raw.destroyed) return
  raw.writeHead(status, headers)
  if (served.reply.request.method === 'HEAD') {
    raw.end()
    return
  }
  raw.flushHeaders()
  await streamEvents(raw, eventsWhileAdmitted(context, served, events), {
    signal: served.controller.signal,
    heartbeat_ms: context.limits.heartbeat_ms,
    onHeartbeat: () => void endUnlessAdmitted(context, served),
    hold: (bytes) => served.holdEvent(bytes),
    problemOf: (error) =>
      problemOf(toRefusal(context, served.target.address, served.trace, error), served.trace.trace_id),
  })
}

/** A token or certificate that is revoked while its stream is open ends the stream before the next event is sent. */
async function* eventsWhileAdmitted(
  context: ListenerContext,
  served: ServedRequest,
  events: AsyncIterable<ServerEvent>,
): AsyncIterable<ServerEvent> {
  for await (const event of events) {
    if (isRefusal(await readmitCaller(context, served))) return
    yield event
  }
}

/** Ends a quiet stream whose caller has lost its admission: it would hold its share for as long as nothing happens. */
async function endUnlessAdmitted(context: ListenerContext, served: ServedRequest): Promise<void> {
  const admitted = await readmitCaller(context, served).catch((error: unknown) =>
    toRefusal(context, served.target.address, served.trace, error),
  )
  if (isRefusal(admitted)) served.controller.abort(admitted)
}

// Serves operations to the exchanges of a listener of the data plane, and passes on those at other paths.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange, ExchangeHandler, RequestFault } from '../../../daemon/kernel/forward/exchange.ts'
import type { PresentedCredential } from '../../../daemon/kernel/identity/identity.ts'
import { endOfService } from './event-stream.ts'
import { ExchangeRequest, ExchangeResponse, joinField } from './exchange-request.ts'
import type { ListenerContext } from './handle-request.ts'
import { httpRequests } from './http-metrics.ts'
import { defaultListenerLimits } from './limits.ts'
import { readRoutedPath } from './method-lookup.ts'
import { createOperationApp, type OperationAppOptions } from './operation-app.ts'
import { requestProblem } from './raw-problem.ts'
import { parseBearer } from './request-headers.ts'
import { commonHeaders } from './write-response.ts'

export type ExchangeService = {
  /**
   * For `dataListener`. `forward` receives the requests at paths that are not those of operations: a path of an operation is
   * never forwarded, by no method and in no spelling that the router would take for it.
   */
  handle(exchange: Exchange): void
  /** Refuses further operations, ends streams, and waits for the rest at most this long. */
  close(deadline_ms: number): Promise<void>
}

export async function serveExchanges(
  options: OperationAppOptions & { readonly forward: ExchangeHandler },
): Promise<ExchangeService> {
  const { forward } = options
  const limits = { ...defaultListenerLimits, ...options.limits }
  const { app, context, hasPath, stopSweep } = createOperationApp(options, { isLocal: false, limits })
  await app.ready()
  return {
    handle(exchange) {
      if (exchange.fault) {
        answerFault(context, exchange, exchange.fault)
        return
      }
      // Before the router: it would build a request and a response that nothing forwarded needs.
      const path = readRoutedPath(exchange.target)
      if (path !== undefined && !hasPath(path)) {
        forward(exchange, credentialOf(exchange))
        return
      }
      const response = new ExchangeResponse(exchange)
      const request = new ExchangeRequest(exchange)
      app.routing(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    },
    close: (deadline_ms) =>
      drain(context, deadline_ms)
        .then(() => app.close())
        .finally(stopSweep),
  }
}

function credentialOf({ rawHeaders, certificate }: Exchange): PresentedCredential {
  return { bearer: parseBearer(joinField(rawHeaders, 'authorization')), certificate, isLocal: false }
}

/** A request that servers could read differently is neither an operation nor forwarded. */
function answerFault(context: ListenerContext, exchange: Exchange, { status, reason }: RequestFault): void {
  const trace_id = context.roleContext.environment.random(16)
  const detail = `another server could read this request differently: ${reason}`
  const body = Buffer.from(JSON.stringify(requestProblem(status, trace_id, detail)))
  const headers = { ...commonHeaders, 'content-type': 'application/problem+json' }
  context.metrics.count(httpRequests, { operation: 'none', status: String(status) })
  exchange.reply(status, Object.entries(headers).flat(), body)
}

async function drain({ requests }: ListenerContext, deadline_ms: number): Promise<void> {
  const emptied = requests.drain()
  for (const served of requests.streams) served.controller.abort(endOfService)
  const cutOff = setTimeout(() => {
    for (const served of requests.all()) {
      served.controller.abort(endOfService)
      served.reply.raw.destroy()
    }
  }, deadline_ms)
  await emptied
  clearTimeout(cutOff)
}

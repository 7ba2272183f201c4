// Imported before tests of listeners: they then run against a listener that forwards the paths that no operation has.
import { httpRequests } from '../../../adapters/serve/http/http-metrics.ts'
import type { HttpServerOptions } from '../../../adapters/serve/http/serve-http.ts'
import { commonHeaders } from '../../../adapters/serve/http/write-response.ts'
import { openListener } from '../../../daemon/boot/open-listener.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import type { ExchangeHandler } from '../../../daemon/kernel/forward/exchange.ts'
import { echoListener } from './echo-server.ts'

/** Answers as a role does that knows no service for the path. */
function refuseUnknown({ metrics }: HttpServerOptions): ExchangeHandler {
  return (exchange) => {
    metrics.count(httpRequests, { operation: 'none', status: '404' })
    const headers = { ...commonHeaders, 'content-type': 'application/problem+json' }
    const problem = problemOf(refuse('not_found', 'nothing is served at this path'), '0'.repeat(32))
    exchange.reply(404, Object.entries(headers).flat(), Buffer.from(JSON.stringify(problem)))
  }
}

echoListener.open = (options) =>
  openListener(options, 'host' in options.listen ? { forward: () => refuseUnknown(options) } : undefined)

// Dispatches each request of the public listener: to the service endpoints, or to a new ProxyRequest.
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import type { ProxyConfig } from '../config.ts'
import { ProxyRequest } from './proxy-request.ts'
import type { ProxyRequestDependencies } from './proxy-request-dependencies.ts'

/** Endpoints beside the public prefix. The main thread answers them. */
export type ProxyServiceEndpoint = 'health' | 'info'

type RequestDispatcherOptions = ProxyRequestDependencies & {
  readonly requestService: (
    endpoint: ProxyServiceEndpoint,
  ) => Promise<{ readonly status: number; readonly body: string }>
}

/** Exact targets, for clients that reach the listener directly. No path under the prefix leads to them. */
const serviceEndpointsByTarget: ReadonlyMap<string, ProxyServiceEndpoint> = new Map([
  ['/health', 'health'],
  ['/service-info', 'info'],
])

export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions
  /** May be replaced at any time: each request keeps the one that it began with. */
  config: ProxyConfig

  constructor(options: RequestDispatcherOptions, config: ProxyConfig) {
    this.#options = options
    this.config = config
  }

  handle(exchange: Exchange): void {
    const endpoint =
      exchange.method === 'GET' && !exchange.fault ? serviceEndpointsByTarget.get(exchange.target) : undefined
    if (endpoint) void this.#replyFromService(exchange, endpoint)
    else new ProxyRequest(exchange, this.config, this.#options).serve()
  }

  async #replyFromService(exchange: Exchange, endpoint: ProxyServiceEndpoint): Promise<void> {
    const { status, body } = await this.#options.requestService(endpoint)
    exchange.reply(status, ['Content-Type', 'application/json'], Buffer.from(body))
  }
}

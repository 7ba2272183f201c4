// Where the requests of strangers come to: each is a visit, but for what is asked of the service itself.
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import type { ProxyConfig } from '../config.ts'
import { ProxyRequest, type ProxyRequestDependencies } from './proxy-request.ts'

/** Targets beside the public prefix that the main thread answers. */
export type ProxyServiceEndpoint = 'health' | 'info'

type RequestDispatcherOptions = ProxyRequestDependencies & {
  /** What is asked for beside the public prefix, and answered by the main thread. */
  readonly requestService: (
    endpoint: ProxyServiceEndpoint,
  ) => Promise<{ readonly status: number; readonly body: string }>
}

/** Exact targets: they are for whoever reaches the listener itself, and no path under the prefix leads to them. */
const serviceEndpointsByTarget: ReadonlyMap<string, ProxyServiceEndpoint> = new Map([
  ['/health', 'health'],
  ['/service-info', 'info'],
])

export class RequestDispatcher {
  readonly #parts: RequestDispatcherOptions
  /** May be replaced at any time: each request goes by the one that it began with. */
  config: ProxyConfig

  constructor(parts: RequestDispatcherOptions, config: ProxyConfig) {
    this.#parts = parts
    this.config = config
  }

  handle(exchange: Exchange): void {
    const about =
      exchange.method === 'GET' && !exchange.fault ? serviceEndpointsByTarget.get(exchange.target) : undefined
    if (about) void this.#replyFromService(exchange, about)
    else new ProxyRequest(exchange, this.config, this.#parts).serve()
  }

  async #replyFromService(exchange: Exchange, endpoint: ProxyServiceEndpoint): Promise<void> {
    const { status, body } = await this.#parts.requestService(endpoint)
    exchange.reply(status, ['Content-Type', 'application/json'], Buffer.from(body))
  }
}

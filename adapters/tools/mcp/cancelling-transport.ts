// The HTTP transport of the MCP library, without reconnection and with an end to the request of each call that ends.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { HeaderFields } from '../../../daemon/kernel/api/surface.ts'
import type { ToolServiceAddress } from '../../../daemon/kernel/tools/tool-service.ts'
import type { BoundedFetch } from './bounded-fetch.ts'

/** A lost stream is a lost connection: the follower of a service opens another, and reads the list again. */
const noReconnection = {
  maxRetries: 0,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
}

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1]

/** In the revisions with sessions the library cancels a call by a message alone, and leaves its request open. */
export class CancellingTransport extends StreamableHTTPClientTransport {
  readonly #signals = new WeakMap<object, AbortSignal>()

  constructor({ url, token }: ToolServiceAddress, { fetch }: BoundedFetch) {
    super(url, { fetch, authProvider: { token }, reconnectionOptions: noReconnection })
  }

  /** The headers, by which `send` finds the signal of their request. */
  withSignal(headers: HeaderFields, signal: AbortSignal): Record<string, string> {
    const own = { ...headers }
    this.#signals.set(own, signal)
    return own
  }

  override async send(
    message: Parameters<StreamableHTTPClientTransport['send']>[0],
    options?: SendOptions,
  ): Promise<void> {
    const signal = options?.headers && this.#signals.get(options.headers)
    if (!signal) return await super.send(message, options)
    const requestSignal = options.requestSignal ? AbortSignal.any([options.requestSignal, signal]) : signal
    await super.send(message, { ...options, requestSignal })
  }
}

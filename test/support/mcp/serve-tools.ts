// Serves the operations of the echo role as tools of AI clients, by the real adapter on a real listener.

import type { ListenerLimits } from '../../../adapters/serve/http/limits.ts'
import type { HttpServerOptions } from '../../../adapters/serve/http/serve-http.ts'
import { mcpSurface } from '../../../adapters/serve/mcp/mcp-surface.ts'
import { announcementBus } from '../../../daemon/boot/announcement-bus.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { startEchoServer } from '../echo/echo-server.ts'

const declareTool = (target: AddressedOperation): AddressedOperation => ({
  ...target,
  operation: { ...target.operation, tool: target.address.split('.').at(-1) ?? '' },
})

/**
 * Serves the echo role with each of its operations as a tool, but for the streams: those of other surfaces, too.
 * `changeTools`: offers other operations from then on, and reports it.
 */
export async function serveTools(
  limits: Partial<ListenerLimits> = {},
  options: Pick<Partial<HttpServerOptions>, 'tls' | 'trace_policy'> = {},
) {
  const bus = announcementBus()
  let tools: readonly AddressedOperation[] = []
  const surfaceOf = (operations: readonly AddressedOperation[]) => {
    tools = operations.filter(({ operation }) => !operation.streams).map(declareTool)
    return mcpSurface({
      role: 'test',
      about: { name: 'test', version: '1' },
      resources: [],
      operations: () => tools,
      changes: (signal) => bus.changes('tools', signal, 50),
      origin_policy: { hosts: new Set(['127.0.0.1', 'localhost']), origins: new Set() },
      public_url: undefined,
      isTls: false,
      authorization_servers: ['https://issuer.example'],
      sessions: { per_caller: 2, idle_ms: 60_000, age_ms: 60_000 },
      now: () => performance.now(),
      random: (bytes) =>
        crypto
          .randomUUID()
          .replaceAll('-', '')
          .repeat(2)
          .slice(0, bytes * 2),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    })
  }
  const at = await startEchoServer({ limits, ...options }, surfaceOf)
  const changeTools = (change: (tools: readonly AddressedOperation[]) => readonly AddressedOperation[]) => {
    tools = change(tools)
    bus.announce('tools')
  }
  return { ...at, port: at.server.port, changeTools }
}

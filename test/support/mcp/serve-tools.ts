// Serves the operations of the echo role as tools of AI clients, by the real adapter on a real listener.
import type { ListenerLimits } from '../../../adapters/serve/http/limits.ts'
import { mcpSurface } from '../../../adapters/serve/mcp/mcp-surface.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { startEchoServer } from '../echo/echo-server.ts'

const declareTool = (target: AddressedOperation): AddressedOperation => ({
  ...target,
  operation: { ...target.operation, tool: target.address.split('.').at(-1) ?? '' },
})

/** Serves the echo role with each of its operations as a tool, but for the streams: those of other surfaces, too. */
export async function serveTools(limits: Partial<ListenerLimits> = {}) {
  const surfaceOf = (operations: readonly AddressedOperation[]) =>
    mcpSurface({
      role: 'test',
      about: { name: 'test', version: '1' },
      resources: [],
      operations: operations.filter(({ operation }) => !operation.streams).map(declareTool),
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
  const at = await startEchoServer({ limits }, surfaceOf)
  return { ...at, port: at.server.port }
}

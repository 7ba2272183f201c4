// Opens the tool servers that the gateway runs itself: each a process in the sandbox, or none where no sandbox can hold it.
import { product } from '../../../adapters/platform/product/product.ts'
import type { StdioServer } from '../../../adapters/tools/mcp/stdio-server.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { refuse } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { ToolServices } from '../../kernel/tools/tool-service.ts'
import { settings } from '../../roles/gateway/settings.ts'
import { type StdioServerSettings, stdioServerUrl } from '../../roles/gateway/stdio-server/model.ts'
import { type StdioServers, stdioServersPart } from '../../roles/gateway/stdio-server/parts.ts'
import { type ServerStart, stdioServerStarts } from './start-stdio-server.ts'

/** As of registered services; a process has no other way to tell that it is slow. */
const message_limits = { answer_bytes: 2_097_152, depth: 128, tools: 500 }

export type OpenedStdioServers = {
  readonly part: readonly [string, StdioServers]
  /** Services of both kinds: those at URLs, and those that are processes. */
  join(services: ToolServices): ToolServices
  /** Finds out at the start whether the sandbox can hold them. */
  start(): Promise<void>
  close(drain_ms: number): Promise<void>
}

type RunServer = { readonly url: string; readonly idle_ms: number; readonly open: () => Promise<StdioServer> }

export function openStdioServers(
  { resolved, clock }: Pick<SiteResources, 'resolved' | 'clock'>,
  log: Log,
): OpenedStdioServers {
  const { stdio_servers } = getSettings(resolved, settings)
  const declared = Object.entries(stdio_servers)
  const starts = stdioServerStarts(declared, { log, monotonic: clock.monotonic })
  const troubles = new Map<string, string>()
  const opened = new Map<string, StdioServer>()
  let isClosed = false
  const servers = new Map(
    declared.map(([name, server]): [string, RunServer] => {
      const open = () => openServer(name, server, starts.of(name), { log, troubles, now: clock.monotonic })
      return [
        name,
        {
          url: stdioServerUrl(name, server),
          idle_ms: server.idle_s * 1_000,
          open: once(open, (made) => opened.set(name, made)),
        },
      ]
    }),
  )
  return {
    part: [
      stdioServersPart.name,
      {
        rounds: new Map(),
        troubleOf: (name) => troubles.get(name),
        async endIdle() {
          for (const [name, server] of opened) await server.endIdle(servers.get(name)?.idle_ms ?? 0)
        },
      },
    ],
    join: (services) => ({
      async connect(address, signal) {
        const { url } = address
        if (url.protocol !== 'stdio:') return await services.connect(address, signal)
        if (isClosed) throw refuse('unavailable', 'the gateway is stopping')
        return await connectServer(servers.get(url.hostname), url, signal)
      },
    }),
    async start() {
      const fault = await starts.findFault()
      if (fault === undefined) return
      for (const [name] of declared) troubles.set(name, fault)
      log.warn('gateway.stdio_server.unavailable', { services: declared.length, reason: fault })
    },
    async close(drain_ms) {
      isClosed = true
      await Promise.all([...opened.values()].map((server) => server.close(drain_ms)))
    },
  }
}

/** The library is loaded with the first server. */
async function openServer(
  name: string,
  { answer_s }: StdioServerSettings,
  start: ServerStart,
  { log, troubles, now }: { readonly log: Log; readonly troubles: Map<string, string>; readonly now: () => number },
): Promise<StdioServer> {
  const { StdioServer } = await import('../../../adapters/tools/mcp/stdio-server.ts')
  const limits = { ...message_limits, answer_ms: answer_s * 1_000 }
  const plan = {
    ...{ name, limits, start, now },
    onStart() {
      troubles.delete(name)
      log.info('gateway.stdio_server.started', { service: name })
    },
    onEnd(reason: string | undefined) {
      if (reason === undefined) return log.info('gateway.stdio_server.stopped', { service: name })
      troubles.set(name, reason)
      log.warn('gateway.stdio_server.ended', { service: name, reason })
    },
  }
  return new StdioServer(plan, { name: 'gateway', version: product.version })
}

async function connectServer(server: RunServer | undefined, url: URL, signal: AbortSignal | undefined) {
  if (server?.url !== url.href)
    throw refuse('unavailable', `${url.hostname} is not a server of this gateway any more, or another command by now`)
  const { StdioConnection } = await import('../../../adapters/tools/mcp/stdio-connection.ts')
  return await StdioConnection.open(await server.open(), signal)
}

function once<T>(make: () => Promise<T>, onMade: (made: T) => void): () => Promise<T> {
  let made: Promise<T> | undefined
  return () =>
    (made ??= make().then((value) => {
      onMade(value)
      return value
    }))
}

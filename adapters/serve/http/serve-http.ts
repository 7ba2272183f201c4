// The REST surface: a listener that serves operations over HTTP, with Fastify as its router and body reader.
import type http from 'node:http'
import type { Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { buildTlsOptions, type ListenerTls } from '../../platform/http-server/listener-tls.ts'
import { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import { endOfService } from './event-stream.ts'
import type { ListenerContext } from './handle-request.ts'
import { defaultListenerLimits, type ListenerLimits, localSocketLimits } from './limits.ts'
import { createOperationApp, type OperationAppOptions } from './operation-app.ts'
import { prepareSocketFile, restrictSocketFile } from './socket-file.ts'

/** `group`: its members may use the socket, besides the owner. */
export type ListenTarget =
  | { readonly host: string; readonly port: number }
  | { readonly socket: string; readonly group?: number | undefined }

export type HttpServerOptions = OperationAppOptions & {
  readonly listen: ListenTarget
  readonly tls?: ListenerTls | undefined
}

export type HttpServer = {
  /** `http://host:port`, `https://host:port` or `unix:<path>`. */
  readonly url: string
  /** The bound port, also when port 0 was requested; 0 for a socket file. */
  readonly port: number
  /** Stops accepting, ends streams, waits for the rest at most this long, then cuts it off. Resolves when all is closed. */
  close(deadline_ms: number): Promise<void>
}

export type OperationServer = HttpServer & {
  /** Applies to the connections that follow. Throws for a certificate that cannot be used; does nothing without TLS. */
  replaceCertificate(tls: ListenerTls): void
}

/** Listens. Throws when the address is taken, or the socket's folder is open to others. */
export async function serveHttp(options: HttpServerOptions): Promise<OperationServer> {
  const { listen, tls } = options
  const isLocal = 'socket' in listen
  const limits = { ...defaultListenerLimits, ...(isLocal ? localSocketLimits : {}), ...options.limits }
  const pending = isLocal ? undefined : limitPendingConnections(options, limits)
  const server = { ...serverOptions(limits), ...(tls ? buildTlsOptions(tls) : {}) }
  const { app, context, stopSweep } = createOperationApp(options, { isLocal, limits, pending, server })
  for (const event of ['checkExpectation', 'checkContinue']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
  app.server.on('connection', (socket: Socket) => pending?.begin(socket))

  if ('socket' in listen) await prepareSocketFile(listen.socket, listen.group)
  const url = await app.listen('socket' in listen ? { path: listen.socket } : listen)
  if ('socket' in listen) {
    await restrictSocketFile(listen.socket, listen.group).catch(async (error: unknown) => {
      // A listener that stays open would keep the process from ending with the fault.
      await closeListener(app, context, 0).finally(stopSweep)
      throw error
    })
  }
  const address = app.server.address()
  return {
    url: 'socket' in listen ? `unix:${listen.socket}` : url,
    port: typeof address === 'object' && address ? address.port : 0,
    replaceCertificate(replacing) {
      if ('setSecureContext' in app.server)
        (app.server as unknown as TlsServer).setSecureContext(buildTlsOptions(replacing))
    },
    close: (deadline_ms) => closeListener(app, context, deadline_ms).finally(stopSweep),
  }
}

function serverOptions(limits: ListenerLimits): http.ServerOptions {
  return {
    headersTimeout: limits.headers_ms,
    requestTimeout: limits.receive_ms,
    keepAliveTimeout: limits.idle_ms,
    maxHeaderSize: limits.header_bytes,
    connectionsCheckingInterval: Math.min(1_000, limits.headers_ms / 2),
    joinDuplicateHeaders: true,
    requireHostHeader: false,
    noDelay: true,
  }
}

function limitPendingConnections(
  { log, name, roleContext }: HttpServerOptions,
  { pending_connections: most, pending_connections_per_address: most_per_address }: ListenerLimits,
): PendingConnections {
  return new PendingConnections({ most, most_per_address }, (from) => {
    const times = roleContext.throttle(`pending connections ${name}`)
    if (times !== undefined) log.warn('http.connection.displaced', { listener: name, from, times })
  })
}

async function closeListener(app: FastifyInstance, context: ListenerContext, deadline_ms: number): Promise<void> {
  const emptied = context.requests.drain()
  const closed = app.close()
  for (const served of context.requests.streams) served.controller.abort(endOfService)
  const cutOff = setTimeout(() => {
    for (const served of context.requests.all()) served.controller.abort(endOfService)
    app.server.closeAllConnections()
  }, deadline_ms)
  await emptied
  // Every response has been handed to the operating system; the remaining connections have no request.
  app.server.closeAllConnections()
  await closed
  clearTimeout(cutOff)
}

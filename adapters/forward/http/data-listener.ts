// The listener of the data plane: strict parsers, checks for what they let pass, and time limits on everything.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { HostCertificates } from '../../platform/http-server/host-certificates.ts'
import { buildTlsOptions, type ListenerTls } from '../../platform/http-server/listener-tls.ts'
import { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import { ClientConnection, type DataListenerContext } from './client-connection.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { receiveUpgrade, refuseTunnel } from './detached-socket.ts'
import { Http2Connection } from './http2-connection.ts'
import type { Http2Limits, InboundLimits } from './limits.ts'
import { createListenerServer, listenOn, speaksHttp2 } from './listener-server.ts'
import { handleParserError } from './parser-error.ts'
import { checkRequestFraming } from './request-fault.ts'

/**
 * Why a connection ended without a request: no method and no path to count it by. `slow_reader`: within a response.
 * `abandoned_streams`: a client of HTTP/2 abandoned too many.
 */
export type ConnectionFault =
  | 'malformed'
  | 'head_too_large'
  | 'too_slow'
  | 'slow_reader'
  | 'too_many_connections'
  | 'handshake'
  | 'abandoned_streams'

export type DataListenerOptions = {
  /** `reusePort`: several threads listen on one address, and the kernel distributes connections (Linux). */
  readonly listen: { readonly host: string; readonly port: number; readonly reusePort?: boolean }
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls | undefined
  readonly limits: InboundLimits
  readonly clock: CoarseClock
  /** Offers HTTP/2 beside HTTP/1.1, by ALPN. Needs `tls`. */
  readonly http2?: Http2Limits | undefined
  /** Requests for a switch to WebSocket reach the handler as such. Absent: they are ordinary requests. */
  readonly offersWebSocket?: true
  /** Receives each request, faulty ones included, and must answer it. Must not throw. */
  readonly handle: (exchange: Exchange) => void
  readonly onConnectionFault: (fault: ConnectionFault) => void
}

export type DataListener = {
  readonly port: number
  /** Open connections, and those of them with an unanswered request. */
  counts(): { readonly connections: number; readonly busy: number }
  /** Applies to new connections. */
  replaceCertificate(tls: ListenerTls): void
  /**
   * Accepts no more connections, and marks the next response on each as its last. Connections without a request for
   * `linger_ms` are closed; those still open after `drain_ms` are cut off. Connections that the kernel has queued and this
   * thread has not accepted are lost; where several threads share an address, Linux moves them with tcp_migrate_req.
   */
  close(drain_ms: number): Promise<void>
}

/** A connection of either protocol. */
type ListenerConnection = {
  readonly isIdle: boolean
  destroy(): void
  onClose(): void
  drained(): void
  sweep(now: number): void
}

/** @throws Error when the address is taken or the certificate is unsound. */
export async function dataListener(options: DataListenerOptions): Promise<DataListener> {
  const { listen, limits, clock } = options
  const context: DataListenerContext = {
    limits,
    clock,
    handle: options.handle,
    onSlowReader: () => options.onConnectionFault('slow_reader'),
    closing: undefined,
  }
  const connections = new Map<Socket, ListenerConnection>()
  const hosts = new HostCertificates(options.tls)
  const server = createListenerServer(options, hosts)
  // With TLS, only this set knows connections that are still in their handshake.
  const handshakingSockets = new Set<Socket>()
  const handshakes = limitHandshakes(options)
  if (options.tls) {
    server.on('connection', (socket: Socket) => {
      handshakingSockets.add(socket)
      socket.on('close', () => handshakingSockets.delete(socket))
      handshakes.begin(socket)
    })
  }
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    handshakes.complete(socket)
    if (!makeRoom(connections, options)) {
      socket.destroy()
      return
    }
    const connection = createConnection(context, socket, options)
    connections.set(socket, connection)
    socket.on('drain', () => connection.drained())
    socket.on('close', () => {
      connections.delete(socket)
      connection.onClose()
    })
  })
  const http1Connection = (socket: Socket) => {
    const connection = connections.get(socket)
    return connection instanceof ClientConnection ? connection : undefined
  }
  const arrive = (request: IncomingMessage, response: ServerResponse, isAwaited: boolean) => {
    const { httpVersion, rawHeaders } = request
    const framing = checkRequestFraming(httpVersion, rawHeaders, limits.header_fields)
    http1Connection(request.socket)?.receive(request, response, framing, isAwaited)
  }
  server.on('request', (request, response) => arrive(request, response, false))
  server.on('checkContinue', (request, response) => arrive(request, response, true))
  server.on('checkExpectation', (request, response) => arrive(request, response, false))
  if (options.offersWebSocket) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) =>
      receiveUpgrade(request, socket, early, http1Connection(socket)),
    )
  }
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    refuseTunnel(request, socket, http1Connection(socket)),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    handleParserError(error, http1Connection(socket as Socket), options),
  )
  const stopTicks = clock.onTick(() => {
    const now = clock.now()
    for (const connection of connections.values()) connection.sweep(now)
    if (context.closing && now >= context.closing.all_at) for (const socket of handshakingSockets) socket.destroy()
  })
  await listenOn(server, listen)
  return {
    port: (server.address() as AddressInfo).port,
    counts: () => ({
      connections: connections.size,
      busy: [...connections.values()].filter((connection) => !connection.isIdle).length,
    }),
    replaceCertificate(tls) {
      if (!('setSecureContext' in server)) return
      hosts.replace(tls)
      ;(server as TlsServer).setSecureContext(buildTlsOptions(tls))
    },
    async close(drain_ms) {
      const now = clock.now()
      context.closing = { idle_at: now + Math.min(limits.linger_ms, drain_ms), all_at: now + drain_ms }
      await new Promise((resolve) => server.close(resolve))
      // Node reports the server as closed before its last connections are, and those report the requests they carried.
      while (connections.size > 0) await new Promise((resolve) => setImmediate(resolve))
      stopTicks()
    },
  }
}

/** Handshakes that nobody completes displace one another, and no connection of a caller. */
function limitHandshakes({
  limits: { connections: most },
  onConnectionFault,
}: DataListenerOptions): PendingConnections {
  return new PendingConnections({ most, most_per_address: most }, () => onConnectionFault('too_many_connections'))
}

/**
 * Whether one more connection may be served. The oldest without a request makes room, so that clients which send nothing
 * cannot keep others out; those with a request are bounded by the rate limits.
 */
function makeRoom(
  connections: Map<Socket, ListenerConnection>,
  { limits, onConnectionFault }: DataListenerOptions,
): boolean {
  if (connections.size < limits.connections) return true
  onConnectionFault('too_many_connections')
  for (const [socket, connection] of connections) {
    if (!connection.isIdle) continue
    connections.delete(socket)
    connection.destroy()
    return true
  }
  return false
}

function createConnection(
  context: DataListenerContext,
  socket: Socket,
  { http2, onConnectionFault }: DataListenerOptions,
): ListenerConnection {
  if (!http2 || !speaksHttp2(socket)) return new ClientConnection(context, socket)
  const onAbandoned = () => onConnectionFault('abandoned_streams')
  return new Http2Connection({ context, socket, limits: http2, onAbandoned })
}

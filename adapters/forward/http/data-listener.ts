// The public listener: Node's strict parser, checks for what it lets pass, and time limits on everything.
import { createServer, type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import { ClientConnection, type DataListenerContext } from './client-connection.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { Http2Connection } from './http2-connection.ts'
import type { Http2Limits, InboundLimits } from './limits.ts'
import { checkRequestFraming, requestFaults, requestsWebSocket } from './request-fault.ts'

export type PemKeyPair = { readonly cert: string; readonly key: string }

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
  readonly tls?: PemKeyPair
  readonly limits: InboundLimits
  readonly clock: CoarseClock
  /** Offers HTTP/2 beside HTTP/1.1, by ALPN. Needs `tls`. */
  readonly http2?: Http2Limits
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
  replaceCertificate(tls: PemKeyPair): void
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
  const server = createListenerServer(options)
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
    replaceCertificate: (tls) =>
      'setSecureContext' in server && (server as ReturnType<typeof createTlsServer>).setSecureContext(tls),
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

const speaksHttp2 = (socket: Socket) => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'

function createListenerServer({ limits, tls, http2, offersWebSocket, onConnectionFault }: DataListenerOptions): Server {
  const common: ServerOptions = {
    maxHeaderSize: limits.header_bytes,
    headersTimeout: limits.headers_ms,
    requestTimeout: limits.request_ms,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(limits.headers_ms / 2)),
    // Idle connections are ended by the sweep: Node would set a timer after each answer.
    keepAliveTimeout: 0,
    insecureHTTPParser: false,
    // A request without a host is a fault of the request, and is counted like others.
    requireHostHeader: false,
    noDelay: true,
    ...(offersWebSocket
      ? { shouldUpgradeCallback: (request) => requestsWebSocket(request, limits.header_fields), allowHalfOpen: true }
      : {}),
  }
  const server = tls
    ? createTlsServer({
        ...common,
        ...tls,
        minVersion: 'TLSv1.2',
        ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
        handshakeTimeout: limits.headers_ms,
      })
    : createServer(common)
  if (http2) serveHttp1Alone(server)
  server.on('tlsClientError', () => onConnectionFault('handshake'))
  // Node would end idle connections as soon as the listener closes, even when a request is on its way.
  server.closeIdleConnections = () => undefined
  // Node would silently drop fields beyond its count: here bytes are bounded, and too many fields are a fault.
  server.maxHeadersCount = 0
  return server
}

/** Connections that negotiated HTTP/2 bypass the parser of HTTP/1.1. */
function serveHttp1Alone(server: Server): void {
  const serveHttp1 = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: Socket) => {
    if (speaksHttp2(socket)) return
    for (const listener of serveHttp1) listener.call(server, socket)
  })
}

/** Node detaches from a socket when a client requests a tunnel: from its events, pending responses and errors. */
function refuseTunnel(request: IncomingMessage, socket: Socket, connection: ClientConnection | undefined): void {
  const response = attachResponse(request, socket, connection)
  if (response) connection?.receive(request, response, requestFaults.tunnel, false)
}

/** Bytes of the new protocol that came with the head are returned to the socket. */
function receiveUpgrade(
  request: IncomingMessage,
  socket: Socket,
  early: Buffer,
  connection: ClientConnection | undefined,
): void {
  const response = attachResponse(request, socket, connection)
  if (!response) return
  if (early.length > 0) socket.unshift(early)
  connection?.receive(request, response, 0, false, 'websocket')
}

/** A response on a socket that Node has detached from. Undefined where earlier responses are unsent: they are lost. */
function attachResponse(
  request: IncomingMessage,
  socket: Socket,
  connection: ClientConnection | undefined,
): ServerResponse | undefined {
  socket.on('error', () => socket.destroy())
  if (!connection?.isQuiet) {
    socket.destroy()
    return undefined
  }
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  response.on('finish', () => {
    // Read, so that the client receives the response before the connection is reset.
    socket.resume()
    socket.destroySoon()
  })
  return response
}

function listenOn(server: Server, { host, port, reusePort = false }: DataListenerOptions['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, reusePort, backlog: 4_096 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const statusLines = {
  malformed: '400 Bad Request',
  too_slow: '408 Request Timeout',
  head_too_large: '431 Request Header Fields Too Large',
} as const

/** The other end closed or broke the connection, perhaps within a request. */
const disconnectCodes = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/** Bytes that are not a request, or not a whole one in time. The response repeats nothing of them. */
function handleParserError(
  error: NodeJS.ErrnoException,
  connection: ClientConnection | undefined,
  { onConnectionFault }: DataListenerOptions,
): void {
  if (!connection || disconnectCodes.has(error.code ?? '')) {
    connection?.destroy()
    return
  }
  const fault =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'head_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'too_slow'
        : 'malformed'
  if (!connection.onParserError(fault === 'too_slow')) return
  onConnectionFault(fault)
  connection.sendFinal(`HTTP/1.1 ${statusLines[fault]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

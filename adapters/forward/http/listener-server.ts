// The server of a listener: Node's strict parser of HTTP/1.1, and TLS with the protocols that it negotiates.
import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { HostCertificates } from '../../platform/http-server/host-certificates.ts'
import { buildTlsOptions } from '../../platform/http-server/listener-tls.ts'
import type { DataListenerOptions } from './data-listener.ts'
import { requestsWebSocket } from './request-fault.ts'

export const speaksHttp2 = (socket: Socket): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'

export function createListenerServer(
  { limits, tls, http2, offersWebSocket, onConnectionFault }: DataListenerOptions,
  hosts: HostCertificates,
): Server {
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
        ...buildTlsOptions(tls),
        ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
        handshakeTimeout: limits.headers_ms,
        SNICallback: (name, done) => done(null, hosts.find(name)),
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

export function listenOn(
  server: Server,
  { host, port, reusePort = false }: DataListenerOptions['listen'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, reusePort, backlog: 4_096 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

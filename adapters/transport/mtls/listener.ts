// The listener for peers: TLS 1.3 with client certificates. Only certificates of pinned peers are served.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import type { MtlsMaterial } from './material.ts'
import { identifyPeer } from './pins.ts'
import { type MtlsListenerContext, replyBusy, serveRequest } from './serve-request.ts'
import { secureContextOptions } from './tls-context.ts'

export type MtlsListenerOptions = MtlsListenerContext & {
  readonly host: string
  readonly port: number
  readonly material: () => MtlsMaterial
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly land: MessageReceiver
}

export type MtlsListener = {
  readonly port: number
  /** For connections to come; requests under way go on. */
  renew(material: MtlsMaterial): void
  isListening(): boolean
  close(): Promise<void>
}

/** Throws when the address is taken. */
export async function startMtlsListener(options: MtlsListenerOptions): Promise<MtlsListener> {
  const { limits } = options
  const server = createServer({
    ...secureContextOptions(options.material()),
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: limits.handshake_ms,
    headersTimeout: limits.headers_ms,
    // The time limit of a body depends on its size: see `readBody`.
    requestTimeout: 0,
    keepAliveTimeout: limits.idle_ms,
    connectionsCheckingInterval: Math.min(1_000, limits.headers_ms / 2),
    maxHeaderSize: 8_192,
  })
  const connections = new PeerConnections(options)
  const handshakes = new PendingConnections(
    { most: limits.handshakes, most_per_address: limits.handshakes_per_address },
    (from) => options.reportRefusal('too_many_handshakes', { from }),
  )
  server.on('connection', (socket) => handshakes.begin(socket as Socket))
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    options.reportRefusal('handshake', { from: socket.remoteAddress })
    options.log.debug('mtls.handshake.failed', { code: error.code })
  })
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    handshakes.complete(socket)
    connections.admit(socket)
  })
  server.on('clientError', (_error, socket) => {
    // Node says so of failed handshakes too, which were counted.
    const peer = connections.peerName(socket as TLSSocket)
    if (peer !== undefined) options.reportRefusal('bad_request', { peer })
    socket.destroy()
  })
  const serve = (request: IncomingMessage, response: ServerResponse) => void connections.serve(request, response)
  server.on('request', serve)
  server.on('checkContinue', serve)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: options.host, port: options.port }, () => resolve(server.off('error', reject) && undefined))
  })
  server.on('error', (error) => options.log.error('mtls.listener.failed', { detail: error.message }))
  return {
    port: (server.address() as AddressInfo).port,
    renew(material) {
      server.setSecureContext(secureContextOptions(material))
      server.closeIdleConnections()
    },
    isListening: () => server.listening,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      const cutOff = setTimeout(() => server.closeAllConnections(), limits.drain_ms)
      await closed
      clearTimeout(cutOff)
    },
  }
}

/** Connections that are open, each of one peer. */
class PeerConnections {
  readonly #options: MtlsListenerOptions
  readonly #connections = new Map<string, Set<TLSSocket>>()
  readonly #requests = new Map<string, number>()
  #large_requests = 0

  constructor(options: MtlsListenerOptions) {
    this.#options = options
  }

  /** Before a byte of a request is read. */
  admit(socket: TLSSocket): void {
    const { reportRefusal, limits } = this.#options
    const found = this.#identify(socket)
    if ('why' in found) {
      reportRefusal(found.why, { from: socket.remoteAddress })
      socket.destroy()
      return
    }
    const open = this.#connections.get(found.peer) ?? new Set()
    if (open.size >= limits.connections_per_peer) {
      reportRefusal('too_many_connections', { peer: found.peer })
      socket.destroy()
      return
    }
    this.#connections.set(found.peer, open.add(socket))
    socket.once('close', () => open.delete(socket))
  }

  peerName(socket: TLSSocket): string | undefined {
    return [...this.#connections].find(([, open]) => open.has(socket))?.[0]
  }

  /** Identifies the peer for each request: a connection outlives neither its certificate nor its pin. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const socket = request.socket as TLSSocket
    const { reportRefusal, limits, land, log } = this.#options
    response.sendDate = false
    const found = this.#identify(socket)
    if ('why' in found) {
      reportRefusal(found.why, { from: socket.remoteAddress })
      socket.destroy()
      return
    }
    const { peer } = found
    const under_way = this.#requests.get(peer) ?? 0
    if (under_way >= limits.requests_per_peer) return replyBusy(response)
    const isLarge = !(Number(request.headers['content-length']) <= limits.large_bytes)
    if (isLarge && this.#large_requests >= limits.large_requests) return replyBusy(response)
    this.#requests.set(peer, under_way + 1)
    if (isLarge) this.#large_requests += 1
    try {
      await serveRequest(peer, request, response, land, this.#options)
    } catch (error) {
      log.error('mtls.request.failed', { peer, detail: String(error) })
      socket.destroy()
    } finally {
      if (isLarge) this.#large_requests -= 1
      this.#requests.set(peer, (this.#requests.get(peer) ?? 1) - 1)
    }
  }

  #identify(socket: TLSSocket): ReturnType<typeof identifyPeer> {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
    if (!certificate) return { why: 'not_pinned' }
    return identifyPeer(certificate, 'client', this.#options.material().pins, this.#options.now())
  }
}

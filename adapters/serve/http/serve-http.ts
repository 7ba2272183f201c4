// The REST surface: a listener that serves operations over HTTP, with Fastify as its router and body reader.
import type http from 'node:http'
import type { Socket } from 'node:net'
import { type FastifyError, type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import type { Surface } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import {
  type AddressedOperation,
  isRouted,
  listPaths,
  type ServedRoute,
} from '../../../daemon/kernel/operation/operation.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { defaultTracePolicy, type TracePolicy } from '../../../daemon/kernel/telemetry/trace-policy.ts'
import { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import { endOfService } from './event-stream.ts'
import { acceptRequest, cutOffReader, type ListenerContext, performRequest, timeOutRequest } from './handle-request.ts'
import { httpActiveRequests } from './http-metrics.ts'
import { defaultListenerLimits, type ListenerLimits, localSocketLimits } from './limits.ts'
import { toRouterPath } from './method-lookup.ts'
import { type ServedRequest, ServedRequests } from './served-request.ts'
import { prepareSocketFile, restrictSocketFile } from './socket-file.ts'
import { surfaceHandler } from './surface-handler.ts'
import { answerParserError, failRequest, receiveBody, unroutedHandler } from './unrouted-request.ts'

/** `group`: its members may use the socket, besides the owner. */
export type ListenTarget =
  | { readonly host: string; readonly port: number }
  | { readonly socket: string; readonly group?: number | undefined }

export type ListenerTls = {
  readonly cert: string
  readonly key: string
  readonly ca?: string | undefined
  readonly isCertificateOptional?: boolean
}

export type HttpServerOptions = {
  /** Name of the listener in metrics and logs. */
  readonly name: string
  readonly operations: readonly AddressedOperation[]
  readonly roleContext: RoleContext
  /** Leaves out the operations that only the internal listener and the local socket may serve. */
  readonly restricted: boolean
  readonly listen: ListenTarget
  /** PEM texts. With `ca`, a client must present a certificate issued by it, or may when that is optional. */
  readonly tls?: ListenerTls | undefined
  /** Another protocol that the listener serves at its own path. */
  readonly surface?: Surface | undefined
  readonly limits?: Partial<ListenerLimits>
  /** Of a TCP listener; a local socket adopts the traces of its callers, which belong to the site. */
  readonly trace_policy?: TracePolicy | undefined
  readonly log: Log
  readonly metrics: Metrics
}

export type HttpServer = {
  /** `http://host:port`, `https://host:port` or `unix:<path>`. */
  readonly url: string
  /** The bound port, also when port 0 was requested; 0 for a socket file. */
  readonly port: number
  /** Stops accepting, ends streams, waits for the rest at most this long, then cuts it off. Resolves when all is closed. */
  close(deadline_ms: number): Promise<void>
}

/** Listens. Throws when the address is taken, or the socket's folder is open to others. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { roleContext, log, metrics, listen } = options
  const isLocal = 'socket' in listen
  const limits = { ...defaultListenerLimits, ...(isLocal ? localSocketLimits : {}), ...options.limits }
  const pending = isLocal ? undefined : limitPendingConnections(options, limits)
  const requests = new ServedRequests(limits)
  const trace_policy = (isLocal ? undefined : options.trace_policy) ?? defaultTracePolicy
  const context: ListenerContext = { roleContext, log, metrics, limits, isLocal, trace_policy, requests, pending }
  const operations = options.operations
    .filter(isRouted)
    .filter(({ operation }) => !(options.restricted && operation.inside))
  const app = createApp(context, options.tls)
  const { surface } = options
  const handleUnrouted = unroutedHandler(context, [...operations, ...(surface?.routes ?? [])])
  // Before the routes: an unknown path is answered without a look at the body.
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? handleUnrouted(request, reply) : done()))
  for (const target of operations) addRoutes(app, context, target, performRequest.bind(undefined, context, target))
  if (surface)
    for (const target of surface.routes) addRoutes(app, context, target, surfaceHandler(context, surface), surface)
  app.setErrorHandler((error: FastifyError, request, reply) => failRequest(context, error, request, reply))
  for (const event of ['checkExpectation', 'checkContinue']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
  app.server.on('connection', (socket: Socket) => pending?.begin(socket))

  if ('socket' in listen) await prepareSocketFile(listen.socket, listen.group)
  const url = await app.listen('socket' in listen ? { path: listen.socket } : listen)
  if ('socket' in listen) await restrictSocketFile(listen.socket, listen.group)
  const address = app.server.address()
  const sweep = setInterval(() => timeOutOverdue(context, options.name), Math.min(250, limits.request_ms / 2)).unref()
  return {
    url: 'socket' in listen ? `unix:${listen.socket}` : url,
    port: typeof address === 'object' && address ? address.port : 0,
    close: (deadline_ms) => closeListener(app, context, deadline_ms).finally(() => clearInterval(sweep)),
  }
}

/** Operations parse by their own schemas; without this, Fastify loads a validator and a serializer at every start. */
function refuseCompilation(): never {
  throw new TypeError('a route has a Fastify schema; operations bring their own')
}

function createApp(context: ListenerContext, tls: HttpServerOptions['tls']): FastifyInstance {
  const { limits } = context
  const node: http.ServerOptions = {
    headersTimeout: limits.headers_ms,
    requestTimeout: limits.receive_ms,
    keepAliveTimeout: limits.idle_ms,
    maxHeaderSize: limits.header_bytes,
    connectionsCheckingInterval: Math.min(1_000, limits.headers_ms / 2),
    joinDuplicateHeaders: true,
    requireHostHeader: false,
    noDelay: true,
  }
  const https = tls && { ...node, ...buildTlsOptions(tls) }
  const app = fastify({
    ...(https ? { https } : { http: node }),
    requestTimeout: limits.receive_ms,
    keepAliveTimeout: limits.idle_ms,
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512 },
    schemaController: { compilersFactory: { buildValidator: refuseCompilation, buildSerializer: refuseCompilation } },
    frameworkErrors: (error, request, reply) => failRequest(context, error, request, reply),
    clientErrorHandler: (error, socket) => answerParserError(context, error, socket as Socket),
  }) as unknown as FastifyInstance
  app.decorateRequest('served', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, _payload, done) => {
    void receiveBody(context, request).then((body) => (isRefusal(body) ? done(body) : done(null, body)))
  })
  return app
}

/** With optional client certificates, an untrusted one passes the handshake, and the identity provider refuses it. */
function buildTlsOptions({ cert, key, ca, isCertificateOptional = false }: ListenerTls) {
  const asking = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: !isCertificateOptional }
  return { cert, key, minVersion: 'TLSv1.2' as const, ...asking }
}

type RouteHandler = (served: ServedRequest, request: FastifyRequest) => Promise<void>

function addRoutes(
  app: FastifyInstance,
  context: ListenerContext,
  target: ServedRoute,
  handle: RouteHandler,
  surface?: Surface | undefined,
): void {
  const { method } = target.operation
  for (const path of listPaths(target.operation)) {
    app.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: toRouterPath(path),
      onRequest: (request, reply, done) => {
        acceptRequest(context, target, request, reply, surface).then((mayGoOn) => {
          if (mayGoOn) done()
        }, done)
      },
      handler: (request) => {
        if (request.served) void handle(request.served, request)
      },
    })
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

function timeOutOverdue(context: ListenerContext, listener: string): void {
  const now_ms = performance.now()
  for (const served of context.requests.overdue(now_ms)) timeOutRequest(context, served)
  for (const served of context.requests.readTooSlowly(now_ms)) cutOffReader(context, served)
  context.metrics.set(httpActiveRequests, { listener }, context.requests.plain.size + context.requests.streams.size)
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
